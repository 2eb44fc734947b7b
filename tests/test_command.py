"""`./meshgrade test`: which commands and which tests each option runs."""

import importlib.metadata
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.house import Row
from tests import __main__ as command
from tests.cpu_budget import CHECK
from tests.pytest_runs import Outcome
from tests.selection import EVERYTHING
from tests.unchanged import ONLY_CHANGED

RUNNER = CliRunner()
PINNED = dict(line.split("==") for line in (command.CHECKOUT / "next-jax.txt").read_text().splitlines() if "==" in line)


@dataclass
class Ran:
    """What would have run: tools, and for each run of pytest its name, its arguments and its variables."""

    tools: list[str] = field(default_factory=list)
    runs: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    parts: list[int | None] = field(default_factory=list)
    outcome: Outcome = field(default_factory=Outcome)


@pytest.fixture
def ran(monkeypatch) -> Ran:
    """Variables that the command sets are removed after the test."""
    found = Ran()
    environment = {name: value for name, value in command.os.environ.items() if not name.startswith("MESHGRADE_TEST_")}
    monkeypatch.setattr(command.os, "environ", environment)

    def run(name, options, chosen, variables=None):
        found.runs[name] = [*options, *chosen]
        found.variables |= variables or {}
        return found.outcome

    monkeypatch.setattr(command, "run", run)
    monkeypatch.setattr(command, "run_parts", lambda number, options: found.parts.append(number) or [])
    monkeypatch.setattr(command, "_passes", lambda name, line: found.tools.append(Path(line[0]).name) or True)
    monkeypatch.setattr(command.house, "measure", lambda: [Row("statements", 12, 10)])
    monkeypatch.setattr(command.house, "touched", lambda _: [Row("a new page", 5, 4)])
    return found


@pytest.fixture
def next_jax_is_installed(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: PINNED[name])


@pytest.mark.usefixtures("next_jax_is_installed")
@pytest.mark.parametrize("options", [[], ["--all"]], ids=["a quarter", "all"])
def test_the_next_jax_grades_a_quarter_of_the_references_or_everything(ran, options):
    result = RUNNER.invoke(command.app, ["--next-jax", *options, "--", "-x"])
    assert result.exit_code == 0
    assert f"JAX {PINNED['jax']}" in result.output
    assert ran.variables.get(EVERYTHING, "") == ("1" if options else "")
    assert ran.variables[command.NEXT_JAX] == "1"
    [line] = ran.runs.values()
    assert "tests/grader/test_program_verdicts.py" in line
    assert line[-1] == "-x"


def test_quick_leaves_out_types_and_slow_tests(ran):
    result = RUNNER.invoke(command.app, ["--quick", "--", "tests/app"])
    assert result.exit_code == 0
    assert "mypy" not in ran.tools
    assert {"ruff", "codespell", "deptry"} <= set(ran.tools)
    [line] = ran.runs.values()
    assert line[-3:] == ["-m", "not slow", "tests/app"]
    assert ONLY_CHANGED not in command.os.environ


@pytest.mark.parametrize("platform", ["gpu", "tpu"])
def test_what_compiles_for_chips_is_a_run_of_its_own(ran, platform):
    assert RUNNER.invoke(command.app, [f"--{platform}", "--", "-x"]).exit_code == 0
    assert [line[-2:] for line in ran.runs.values()] == [[f"tests/{platform}", "-x"]]
    assert RUNNER.invoke(command.app, [f"--{platform}", "--quick"]).exit_code == 2
    assert RUNNER.invoke(command.app, ["--gpu", "--tpu"]).exit_code == 2


@pytest.mark.parametrize(
    "options",
    [["--quick", "--all"], ["--quick", "--next-jax"], ["--parts", "1"], ["--all", "--next-jax", "--parts", "1"]],
    ids=" ".join,
)
def test_options_that_contradict_each_other_run_nothing(ran, options):
    assert RUNNER.invoke(command.app, options).exit_code == 2
    assert (ran.tools, ran.runs, ran.parts) == ([], {}, [])


def test_a_complete_run_says_what_it_compares_and_how_to_repeat_it(ran, monkeypatch):
    monkeypatch.setattr(command, "base", lambda: "abc123")
    monkeypatch.setattr(command, "due", lambda work: True)
    result = RUNNER.invoke(command.app, [])
    assert result.exit_code == 0
    [told] = [line for line in result.output.splitlines() if line.startswith("Tree ")]
    assert "compared with abc123. To repeat this run: git checkout " in told
    assert told.endswith(" && ./meshgrade test")
    assert "mypy" in ran.tools
    assert list(ran.runs) == ["tests", "hostile tests"]
    assert ran.runs["hostile tests"][-1] == "tests/hostile"
    assert all("--randomly-seed=1" in line for line in ran.runs.values())
    assert command.os.environ[CHECK] == command.os.environ[ONLY_CHANGED] == "1"
    assert "\nstatements     12   10\n" in result.output
    assert result.output.endswith("\na new page                 5    4\n")


@pytest.mark.parametrize("options", [["--all"], ["--quick"], ["--", "tests/hostile"]], ids=" ".join)
def test_what_was_asked_for_is_complete_and_has_no_budget(ran, options: list[str]):
    assert RUNNER.invoke(command.app, options).exit_code == 0
    assert not {CHECK, ONLY_CHANGED} & command.os.environ.keys()


def test_all_runs_in_parts_in_random_order(ran):
    assert RUNNER.invoke(command.app, ["--all", "--parts", "2"]).exit_code == 0
    assert ran.parts == [2]
    assert ran.runs == {}


def test_a_failure_is_named_at_the_end(ran):
    ran.outcome = Outcome(failed=["tests/a.py::test_a"])
    result = RUNNER.invoke(command.app, ["--", "tests/a.py"])
    assert result.exit_code == 1
    assert "FAILED: tests/a.py::test_a failed." in result.output


def test_steps_run_beside_each_other_and_each_prints_its_output_in_one_piece(capsys, tmp_path, monkeypatch):
    # Each of two waits for the other's file.
    script = """
import pathlib, sys, time
mine, other = map(pathlib.Path, sys.argv[1:])
print("begins", flush=True)
mine.touch()
while not other.exists(): time.sleep(0.01)
print("ends")
sys.exit(mine.name == "b")
"""
    steps = [
        (name, [Path(command.sys.executable).name, "-c", script, str(tmp_path / name), str(tmp_path / other)])
        for name, other in ("ab", "ba")
    ]
    monkeypatch.setattr(command.os, "cpu_count", lambda: 2)
    assert command._failed_of(steps) == ["b"]
    said = capsys.readouterr().out
    for name, outcome in (("a", "passed"), ("b", "FAILED")):
        assert f"== {name}\nbegins\nends\n== {name}: {outcome} in " in said


def test_coverage_is_measured_over_all_runs(ran, monkeypatch, tmp_path):
    monkeypatch.setattr(command, "CHECKOUT", tmp_path)
    earlier = tmp_path / ".meshgrade" / "coverage.data"
    earlier.parent.mkdir()
    earlier.touch()
    assert RUNNER.invoke(command.app, ["--coverage"]).exit_code == 0
    assert all({"--cov", "--cov-append"} <= set(line) for line in ran.runs.values())
    assert not earlier.exists()
    # It takes more CPU time.
    assert CHECK not in command.os.environ


def test_another_jax_than_the_named_one_is_refused(ran, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1" if name == "jax" else PINNED[name])
    result = RUNNER.invoke(command.app, ["--next-jax"])
    assert result.exit_code == 2
    assert "This virtual environment has jax 0.1, which differs from next-jax.txt." in result.output
    assert ran.runs == {}
