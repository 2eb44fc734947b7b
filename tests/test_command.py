"""`./meshgrade test`, with and without `--next-jax`: what it grades with, and which part of the submissions."""

import importlib.metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests import __main__ as command
from tests.parts import part_of_commit

RUNNER = CliRunner()
PINNED = dict(line.split("==") for line in (command.CHECKOUT / "next-jax.txt").read_text().splitlines() if "==" in line)


@pytest.fixture
def passes(monkeypatch) -> list[list[str]]:
    """The commands that would have run. Variables that the command sets are removed after the test."""
    monkeypatch.setattr(command.os, "environ", command.os.environ.copy())
    ran: list[list[str]] = []
    monkeypatch.setattr(command, "_passes", lambda name, line, **_: ran.append(line) or True)
    return ran


@pytest.fixture
def next_jax_is_installed(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: PINNED[name])


@pytest.mark.usefixtures("next_jax_is_installed")
def test_the_chosen_part_is_told_and_graded(passes, monkeypatch):
    monkeypatch.setenv("MESHGRADE_TEST_PART", "")
    monkeypatch.setenv("MESHGRADE_TEST_EVERY_REFERENCE", "")
    result = RUNNER.invoke(command.app, ["--next-jax", "--part", "3", "--", "-x"])
    assert result.exit_code == 0
    assert f"JAX {PINNED['jax']}" in result.output
    assert "./meshgrade test --next-jax --part 3" in result.output
    assert command.os.environ["MESHGRADE_TEST_PART"] == "3/8"
    assert command.os.environ["MESHGRADE_TEST_EVERY_REFERENCE"] == "1"
    [line] = passes
    assert "tests/grader/test_program_verdicts.py" in line
    assert line[-1] == "-x"


@pytest.mark.parametrize(
    ("options", "part", "told"),
    [
        (["--part", "3"], "3/8", "./meshgrade test --part 3"),
        (["--all"], "all", "with every submission that ships with the problems."),
        ([], f"{part_of_commit()}/8", f"./meshgrade test --part {part_of_commit()}"),
    ],
    ids=["part", "all", "commit"],
)
def test_what_is_judged_is_told(passes, monkeypatch, options: list[str], part: str, told: str):
    monkeypatch.setenv("MESHGRADE_TEST_PART", "")
    result = RUNNER.invoke(command.app, options)
    assert result.exit_code == 0
    assert told in " ".join(result.output.split())
    assert command.os.environ["MESHGRADE_TEST_PART"] == part


def test_quick_leaves_out_types_and_slow_tests(passes, monkeypatch):
    monkeypatch.setenv("MESHGRADE_TEST_PART", "")
    result = RUNNER.invoke(command.app, ["--quick", "--", "tests/app"])
    assert result.exit_code == 0
    tools = [Path(line[0]).name for line in passes]
    assert "mypy" not in tools
    assert {"ruff", "codespell", "deptry"} <= set(tools)
    assert passes[-1][-3:] == ["-m", "not slow", "tests/app"]
    assert command.os.environ["MESHGRADE_TEST_PART"] == ""


@pytest.mark.parametrize("platform", ["gpu", "tpu"])
def test_what_compiles_for_chips_is_a_run_of_its_own(passes, platform):
    assert RUNNER.invoke(command.app, [f"--{platform}", "--", "-x"]).exit_code == 0
    assert [line[-2:] for line in passes] == [[f"tests/{platform}", "-x"]]
    assert RUNNER.invoke(command.app, [f"--{platform}", "--quick"]).exit_code == 2
    assert RUNNER.invoke(command.app, ["--gpu", "--tpu"]).exit_code == 2


@pytest.mark.parametrize("other", [["--all"], ["--part", "2"], ["--next-jax"]], ids=" ".join)
def test_quick_judges_nothing(passes, other):
    assert RUNNER.invoke(command.app, ["--quick", *other]).exit_code == 2
    assert passes == []


def test_without_options_nothing_is_left_out(passes, monkeypatch):
    monkeypatch.setenv("MESHGRADE_TEST_PART", "")
    assert RUNNER.invoke(command.app, []).exit_code == 0
    assert "mypy" in [Path(line[0]).name for line in passes]
    tests, hostile = passes[-2:]
    assert tests[-6:] == ["--ignore", "tests/gpu", "--ignore", "tests/tpu", "--ignore", "tests/hostile"]
    assert hostile[-1] == "tests/hostile"
    assert not {"not slow", "--cov"} & {*tests, *hostile}
    assert command.os.environ["MESHGRADE_TEST_BUDGET"] == command.os.environ["MESHGRADE_TEST_ONLY_CHANGED"] == "1"


@pytest.mark.parametrize("options", [["--all"], ["--quick"], ["--coverage"], ["--", "tests/app"]], ids=" ".join)
def test_a_budget_is_for_a_usual_complete_run(passes, monkeypatch, tmp_path, options: list[str]):
    monkeypatch.delenv("MESHGRADE_TEST_BUDGET", raising=False)
    monkeypatch.setattr(command, "CHECKOUT", tmp_path)
    assert RUNNER.invoke(command.app, options).exit_code == 0
    assert "MESHGRADE_TEST_BUDGET" not in command.os.environ


@pytest.mark.parametrize("options", [["--all"], ["--part", "3"], ["--quick"], ["--", "tests/hostile"]], ids=" ".join)
def test_what_was_asked_for_is_complete(passes, monkeypatch, options: list[str]):
    monkeypatch.delenv("MESHGRADE_TEST_ONLY_CHANGED", raising=False)
    assert RUNNER.invoke(command.app, options).exit_code == 0
    assert "MESHGRADE_TEST_ONLY_CHANGED" not in command.os.environ


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


def test_coverage_is_measured_over_both_runs(passes, monkeypatch, tmp_path):
    monkeypatch.setenv("MESHGRADE_TEST_PART", "")
    monkeypatch.setattr(command, "CHECKOUT", tmp_path)
    earlier = tmp_path / ".meshgrade" / "coverage.data"
    earlier.parent.mkdir()
    earlier.touch()
    assert RUNNER.invoke(command.app, ["--coverage"]).exit_code == 0
    assert all({"--cov", "--cov-append"} <= set(line) for line in passes[-2:])
    assert not earlier.exists()


def test_all_and_a_part_contradict_each_other(passes):
    result = RUNNER.invoke(command.app, ["--all", "--part", "2"])
    assert result.exit_code == 2
    assert passes == []


def test_another_jax_than_the_named_one_is_refused(passes, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.1" if name == "jax" else PINNED[name])
    result = RUNNER.invoke(command.app, ["--next-jax"])
    assert result.exit_code == 2
    assert "This virtual environment has jax 0.1, which differs from next-jax.txt." in result.output
    assert passes == []
