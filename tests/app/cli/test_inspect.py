"""`meshgrade inspect` as a person runs it, on the smallest problem of mode program and on wrong input."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import inspect as command
from grader.errors import GraderFault

CHECKOUT = Path(__file__).resolve().parents[3]
PACKAGE = CHECKOUT / "tests" / "grader" / "packages" / "move_mean"
REFERENCE = PACKAGE / "reference.py"


def inspect(*arguments: object, source: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app.cli", "inspect", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "COLUMNS": "120"},
        cwd=CHECKOUT,
        input=source,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_leaves_and_collectives_are_shown_for_every_mesh():
    shown = inspect(PACKAGE, REFERENCE)
    assert (shown.returncode, shown.stderr) == (0, "")
    for mesh, held in (("Mesh x=8  8 devices", "4 KiB"), ("Mesh x=4  4 devices", "8 KiB")):
        assert mesh in shown.stdout
        assert any(line.split()[:2] == ["in,", "out"] and held in line for line in shown.stdout.splitlines())
    assert "all-reduce" in shown.stdout
    assert "line 13" in shown.stdout
    assert "Matrix products on each device:" in shown.stdout


def test_the_same_as_data():
    shown = inspect(PACKAGE, "-", "--json", source=REFERENCE.read_text())
    assert shown.returncode == 0, shown.stderr
    eight, four = json.loads(shown.stdout)
    assert (eight["mesh"], four["mesh"]) == ({"x": 8}, {"x": 4})
    assert (eight["state"], eight["inputs"], eight["outputs"]) == (["n", "w"], ["x"], ["n", "w", "loss"])
    assert eight["facts"]["inputs"][1]["slices"][7] == [[448, 512], [0, 16]]
    assert {each["kind"] for each in eight["facts"]["census"]["collectives"]} == {"all-reduce"}
    # Rows of w on a device, by 16, by 16, twice: the multiplication and the addition.
    assert (eight["facts"]["census"]["dot_flops"], four["facts"]["census"]["dot_flops"]) == (32_768, 65_536)
    assert eight["observed"]["retraced"] is False


def test_a_file_that_gives_no_program_is_explained_with_its_line():
    source = REFERENCE.read_text().replace("    mean =", "    if x.sum() > 0:\n        x = -x\n    mean =")
    shown = inspect(PACKAGE, "-", source=source)
    assert (shown.returncode, shown.stdout) == (1, "")
    assert shown.stderr.startswith("not exportable:")
    assert "line 13" in shown.stderr
    assert "lax.cond" in shown.stderr


def test_the_same_refusal_as_data():
    shown = inspect(PACKAGE, "-", "--json", source="def step(mesh, state, x:\n")
    assert shown.returncode == 1
    assert json.loads(shown.stdout)["reason"] == "syntax_error"


@pytest.mark.parametrize(
    ("problem", "file", "said"),
    [
        ("fsdp_step", REFERENCE, "fsdp_step is a problem of mode call, so it has no compiled program to inspect"),
        ("no_such_problem", REFERENCE, "There is no problem 'no_such_problem'."),
        (PACKAGE, "no_such_file.py", "no_such_file.py cannot be read: No such file or directory"),
    ],
)
def test_wrong_usage_is_named(problem: object, file: object, said: str):
    shown = inspect(problem, file)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert said in shown.stderr


def test_a_grader_that_fails_is_no_wrong_usage(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def fail(package: object, source: str) -> None:
        raise GraderFault("a verifier answered without facts")

    monkeypatch.setattr(command, "_inspect", fail)
    with pytest.raises(command.typer.Exit) as left:
        command.inspect(str(PACKAGE), str(REFERENCE), as_json=False)
    assert left.value.exit_code == 3
    assert "a verifier answered without facts" in capsys.readouterr().err
