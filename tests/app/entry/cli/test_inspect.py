"""`meshgrade inspect` as a person runs it, on the smallest program-mode problem and on wrong input."""

import json
import os
import re
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.core.start_errors import StartRefused
from app.entry.cli.__main__ import app
from grader.core.errors import GraderFault, SubmissionFault
from grader.program.measurement import Measured
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, program

CHECKOUT = Path(__file__).resolve().parents[4]
PACKAGE = CHECKOUT / "tests" / "grader" / "packages" / "move_mean"
REFERENCE = PACKAGE / "reference.py"


def inspect(*arguments: object, source: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app.entry.cli", "inspect", *map(str, arguments)],
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
    for mesh, held in (("Mesh x=8  8 devices", "4.0 KiB"), ("Mesh x=4  4 devices", "8.0 KiB")):
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
    assert (eight["observed"], eight["facts"]["retraced"]) == (None, False)


def test_what_sets_two_programs_apart_is_shown_for_every_mesh():
    gathered = REFERENCE.read_text().replace(
        "    mean =", "    x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P()))\n    mean ="
    )
    shown = inspect(PACKAGE, "-", "--against", "reference", source=gathered)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert re.findall(r"^Mesh (.*)$", shown.stdout, re.MULTILINE) == ["x=8", "x=4"]
    assert shown.stdout.count("  all-gather over x moves ") == 2
    assert "(line 13); the other has none." in shown.stdout


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
        ("fsdp_step", REFERENCE, "fsdp_step is in call mode, so it has no compiled program to inspect"),
        ("no_such_problem", REFERENCE, "There is no problem 'no_such_problem'."),
        ("who_holds_what", REFERENCE, "who_holds_what is in answer mode, so it has no compiled program"),
        (PACKAGE, "no_such_file.py", "no_such_file.py cannot be read: No such file or directory"),
    ],
)
def test_wrong_usage_is_named(problem: object, file: object, said: str):
    shown = inspect(problem, file)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert said in shown.stderr


class StandIn:
    """A judge whose programs are made up."""

    def inspect(
        self, package: object, source: str, context: object, *, chip: None, options: object
    ) -> tuple[Measured, ...]:
        if "fails" in source:
            raise GraderFault("a verifier answered without facts")
        if "has no program" in source:
            raise SubmissionFault("missing_entry", "there is no step")
        return program(EIGHT, temporary_bytes=len(source)), program(FOUR)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.entry.cli.local_judge.local_judge", lambda: nullcontext((StandIn(), None)))


def files(folder: Path, *sources: str) -> list[str]:
    paths = [folder / f"{number}.py" for number in range(len(sources))]
    for path, source in zip(paths, sources, strict=True):
        path.write_text(source)
    return list(map(str, paths))


@pytest.mark.usefixtures("stand_in")
def test_differences_as_data(tmp_path: Path):
    mine, other = files(tmp_path, "x = 1\n" * 1024, "x = 1\n" * 512)
    shown = CliRunner().invoke(app, ["inspect", str(PACKAGE), mine, "--against", other, "--json"])
    text = "Each device holds 6 KiB of temporaries, 2 times the other's 3 KiB."
    assert json.loads(shown.stdout) == [
        {"mesh": {"x": 8}, "differences": [{"kind": "memory", "text": text, "line": None}]},
        {"mesh": {"x": 4}, "differences": []},
    ]
    same = CliRunner().invoke(app, ["inspect", str(PACKAGE), mine, "--against", mine])
    assert same.stdout.count("No difference: placement, communication, memory and work are equal.") == 2


@pytest.mark.usefixtures("stand_in")
def test_of_two_files_the_one_without_a_program_is_named(tmp_path: Path):
    mine, other = files(tmp_path, "x = 1\n", "# has no program\n")
    for first, second in ((mine, other), (other, mine)):
        shown = CliRunner().invoke(app, ["inspect", str(PACKAGE), first, "--against", second])
        assert (shown.exit_code, shown.stdout) == (1, "")
        assert shown.stderr.startswith(f"{other}: missing entry: ")
    data = CliRunner().invoke(app, ["inspect", str(PACKAGE), mine, "--against", other, "--json"])
    assert (json.loads(data.stdout)["file"], json.loads(data.stdout)["reason"]) == (other, "missing_entry")


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize(
    ("problem", "file", "against", "refusal"),
    [
        (str(PACKAGE), "-", "-", "standard input can be read only once"),
        (str(PACKAGE), str(REFERENCE), "no_such_file.py", "no_such_file.py cannot be read"),
        (str(PACKAGE), str(REFERENCE), "", " cannot be read"),
        ("who_holds_what", str(REFERENCE), "reference", "is in answer mode"),
        ("fsdp_step", str(REFERENCE), "reference", "is in call mode"),
    ],
    ids=["twice", "missing", "empty", "answer", "call"],
)
def test_what_cannot_be_compared_is_refused_before_anything_runs(problem: str, file: str, against: str, refusal: str):
    refused = CliRunner().invoke(app, ["inspect", problem, file, "--against", against], input="x = 1\n")
    assert isinstance(refused.exception, StartRefused)
    assert refusal in str(refused.exception)


@pytest.mark.usefixtures("stand_in")
def test_a_grader_that_fails_is_no_wrong_usage(tmp_path: Path):
    shown = CliRunner().invoke(app, ["inspect", str(PACKAGE), *files(tmp_path, "# it fails\n")])
    assert shown.exit_code == 3
    assert "a verifier answered without facts" in shown.stderr
