"""`meshgrade explore` as a person runs it, with the real judge and on wrong input."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[4]
SOURCE = "def f(x, w):\n    return x @ w\n"
INPUTS = ["--input", 'x: float32[16, 8] P(None, "model")', "--input", 'w: float32[8, 4] P("model")']


def explore(*arguments: str, source: str = SOURCE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app.entry.cli", "explore", *arguments],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "COLUMNS": "120"},
        cwd=CHECKOUT,
        input=source,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_function_is_shown_on_its_mesh():
    shown = explore("-", "f", "--mesh", "data=4,model=2", *INPUTS)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Mesh data=4, model=2  8 devices" in shown.stdout
    assert "all-reduce" in shown.stdout
    assert "line 2" in shown.stdout


def test_two_files_are_compared_as_data(tmp_path: Path):
    other = tmp_path / "other.py"
    other.write_text("def f(x, w):\n    return x.sum() + w.sum()\n")
    shown = explore("-", "f", "--mesh", "model=2", *INPUTS, "--against", str(other), "--json")
    assert shown.returncode == 0, shown.stderr
    [mesh] = json.loads(shown.stdout)
    assert mesh["mesh"] == {"model": 2}
    assert {"collectives", "memory", "work"} <= {each["kind"] for each in mesh["differences"]}


def test_a_function_without_a_program_is_explained_with_its_line():
    shown = explore("-", "f", "--mesh", "model=2", *INPUTS, source="def f(x, w):\n    return x @ w.T\n")
    assert (shown.returncode, shown.stdout) == (1, "")
    assert "line 2" in shown.stderr
    assert "dot_general" in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-", "f", "--mesh", "model=3", *INPUTS], "x: dimension 1 has 8 elements, which model cannot split into 3"),
        (["-", "f", "--mesh", "2x4", *INPUTS], "The mesh cannot be read at '2x4'. Write it as data=4, model=2."),
        (["-", "f", "--mesh", "model=2", "--input", "x"], "Line 1 of the inputs cannot be read: 'x'"),
        (["none.py", "f", "--mesh", "model=2", *INPUTS], "none.py cannot be read: No such file or directory"),
        (["-", "f", "--mesh", "model=2"], "Missing option '--input'"),
    ],
    ids=["uneven", "mesh", "input", "file", "none"],
)
def test_wrong_usage_is_named(arguments: list[str], message: str):
    shown = explore(*arguments)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert message in shown.stderr
