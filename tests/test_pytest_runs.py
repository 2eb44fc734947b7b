"""What a run makes of tests that fail once, or twice, and of a pytest that ends in another way."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import pytest_runs
from tests.failures import MOST_AGAIN
from tests.pytest_runs import Outcome, faults_of, run
from tests.serial_tests import LEFT_OUT, ONLY_SERIAL

Answers = Callable[..., list[list[str]]]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """Sets what each run of pytest finds, as its status and the tests that fail. Returns the arguments of each run."""

    def set_answers(*found: tuple[int, dict[str, Any]]) -> list[list[str]]:
        ran: list[list[str]] = []
        waiting = list(found)

        def _pytest(name: str, arguments: list[str], variables: dict[str, str]) -> tuple[int, dict[str, Any]]:
            ran.append(list(arguments))
            status, told = waiting.pop(0)
            if told.pop("serial", False):
                Path(variables[LEFT_OUT]).touch()
            return status, told

        monkeypatch.setattr(pytest_runs, "_pytest", _pytest)
        return ran

    return set_answers


def _found(*failed: str, not_collected: tuple[str, ...] = (), complete: bool = True) -> dict[str, Any]:
    return {
        "failures": {test: f"told of {test}" for test in failed},
        "not_collected": not_collected,
        "complete": complete,
    }


def test_a_run_that_passes_runs_once(answers: Answers) -> None:
    ran = answers((0, _found()))
    assert run("tests", ["-n", "2"], ["tests/app"]) == Outcome()
    assert ran == [["-n", "2", "tests/app"]]


def test_what_fails_runs_again_alone_and_fails_the_run_if_it_fails_twice(
    answers: Answers, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = answers((1, _found("tests/a.py::test_a@docs", "tests/b.py::test_b")), (1, _found("tests/a.py::test_a")))
    outcome = run("tests", ["-n", "2"], ["tests", "-k", "one"])
    assert ran[1][:2] == ["-n", "0"]
    assert ran[1][-3:] == ["tests", "-k", "one"]
    assert outcome.failed == ["tests/a.py::test_a"]
    assert outcome.unstable.keys() == {"tests/b.py::test_b"}
    assert "told of tests/b.py::test_b" in outcome.unstable["tests/b.py::test_b"]
    assert faults_of(outcome) == ["tests/a.py::test_a failed."]
    told = capsys.readouterr().out
    assert "== unstable: tests/b.py::test_b" in told
    assert '[[merge]]\nbase = "' in told
    assert 'tests = [\n    "tests/b.py::test_b",\n]' in told


@pytest.mark.parametrize("status", [0, 5], ids=["after others", "nothing else was chosen"])
def test_tests_marked_serial_run_alone(answers: Answers, status: int) -> None:
    ran = answers((status, _found() | {"serial": True}), (0, _found()))
    assert run("tests", ["-n", "2"], ["tests"]) == Outcome()
    assert ran == [["-n", "2", "tests"], ["-n", "2", "tests", "-n", "0"]]


def test_each_half_of_a_run_fails_it(answers: Answers) -> None:
    answers((3, _found() | {"serial": True}), (5, _found()))
    assert run("tests", [], []).faults == [
        "tests: pytest ended with status 3.",
        "serial tests: pytest ended with status 5.",
    ]


@pytest.mark.parametrize("processes", ["0", "2"])
def test_the_first_half_says_whether_there_is_a_second(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, processes: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(pytest_runs.CHECKOUT))
    pytester.makeconftest('pytest_plugins = ["tests.serial_tests"]')
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.serial
        def test_serial(): pass

        def test_other(): pass
        """
    )
    left_out = pytester.path / "left_out"
    monkeypatch.setenv(LEFT_OUT, str(left_out))
    pytester.runpytest_subprocess("-v", "-n", processes).stdout.no_fnmatch_line("*test_serial*")
    [file] = left_out.read_text(encoding="utf-8").splitlines()
    assert file == str(pytester.path / "test_the_first_half_says_whether_there_is_a_second.py")
    unneeded = pytester.path / "unneeded"
    monkeypatch.setenv(LEFT_OUT, str(unneeded))
    pytester.runpytest_subprocess("-v", "-n", processes, "-k", "other").assert_outcomes(passed=1)
    assert not unneeded.exists()
    monkeypatch.delenv(LEFT_OUT)
    monkeypatch.setenv(ONLY_SERIAL, str(left_out))
    pytester.makepyfile(test_elsewhere="raise AssertionError('not to be collected')")
    ran = pytester.runpytest_subprocess("-v", "-n", processes)
    ran.assert_outcomes(passed=1)
    ran.stdout.no_fnmatch_line("*test_other*")


def test_a_single_unstable_test_does_not_fail_a_run(answers: Answers) -> None:
    answers((1, _found("tests/a.py::test_a")), (0, _found()))
    assert faults_of(run("tests", [], [])) == []


@pytest.mark.parametrize(
    ("status", "found", "told"),
    [
        (1, _found(not_collected=("tests/a.py: SyntaxError",)), "tests: not collected: tests/a.py: SyntaxError"),
        (3, _found(), "tests: pytest ended with status 3."),
        (5, _found(), "tests: pytest ended with status 5."),
        (-9, _found(complete=False), "tests: pytest ended with status -9."),
        (0, _found(complete=False), "tests: pytest ended with status 0."),
        (1, _found(), "tests: pytest failed, but no test did."),
        (
            1,
            _found(*(f"tests/a.py::test_{number}" for number in range(MOST_AGAIN + 1))),
            f"tests: {MOST_AGAIN + 1} tests failed. More than {MOST_AGAIN} do not run again alone.",
        ),
    ],
    ids=["not collected", "internal error", "no test chosen", "killed", "nothing written", "no test", "too many"],
)
def test_what_no_second_run_can_decide_fails_at_once(
    answers: Answers, status: int, found: dict[str, Any], told: str
) -> None:
    ran = answers((status, found))
    outcome = run("tests", [], [])
    assert len(ran) == 1
    assert told in faults_of(outcome)


def test_what_cannot_run_again_has_failed(answers: Answers) -> None:
    answers((1, _found("tests/a.py::test_a")), (5, _found()))
    outcome = run("tests", [], [])
    assert outcome.failed == ["tests/a.py::test_a"]
    assert outcome.faults == ["tests: the failed tests could not run again (status 5)."]


def test_outcomes_of_several_runs_add_up() -> None:
    outcome = Outcome(failed=["a"], unstable={"b": "told"}, faults=["c"])
    outcome.add(Outcome(failed=["d"], unstable={"e": "told"}, faults=["f"]))
    assert outcome == Outcome(failed=["a", "d"], unstable={"b": "told", "e": "told"}, faults=["c", "f"])
