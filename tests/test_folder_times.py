"""The table of how long the tests of each folder took, and the budget of their CPU time."""

from collections import Counter
from pathlib import Path

import pytest

from tests import cpu_budget, folder_times
from tests.cpu_budget import FOLDERS_S, PER_TEST_S, excesses
from tests.folder_times import folder_of, lines

TESTS = Path(__file__).parent


def test_a_test_counts_for_its_folder():
    assert folder_of("tests/grader/program/deep/test_a.py::test_b[x/y]") == "tests/grader/program"
    assert folder_of("tests/test_a.py::test_b") == "tests"


def test_the_longest_come_first_and_the_rest_is_together():
    seconds = Counter({f"tests/{number:02}": float(number + 1) for number in range(20)})
    cpu_s = Counter({folder: took / 2 for folder, took in seconds.items()})
    tests = Counter({folder: 10 for folder in seconds})
    printed = list(lines(seconds, cpu_s, tests))
    assert printed[0] == "     20 s   9.5 %       10 CPU s      10 tests  tests/19"
    assert printed[-1] == "     15 s   7.1 %        8 CPU s      50 tests  elsewhere"
    assert len(printed) == 16


def test_a_folder_over_its_budget_is_named_with_its_slowest_files(monkeypatch):
    monkeypatch.setattr(cpu_budget, "FOLDERS_S", {"tests/docs": 100, "tests/app/core": 100})
    monkeypatch.setattr(cpu_budget, "PER_TEST_S", {"tests/docs/test_each.py": 5.0})
    monkeypatch.setattr(cpu_budget, "SHARED_S", 60)
    cpu_s = Counter({"tests/docs/test_a.py": 70.0, "tests/docs/deep/test_b.py": 80.0, "tests/docs/test_each.py": 109.0})
    tests = Counter({"tests/docs/test_each.py": 10})
    assert excesses(cpu_s, tests, lambda file: "tests/docs") == [
        "tests/docs took 150 CPU seconds, 50 more than its budget of 100. Its slowest files: tests/docs/deep/test_b.py "
        "(80 s), tests/docs/test_a.py (70 s). `./meshgrade test -- tests/docs --durations=20` shows its slowest tests. "
        "Make them quicker, or raise the budget in tests/cpu_budget.py and give the reason in the commit."
    ]
    cpu_s["tests/docs/test_each.py"] = 121.0
    assert excesses(cpu_s, tests, lambda file: "elsewhere") == [
        "tests/docs/test_each.py took 121 CPU seconds, 11 more than its budget of 110. That is 5.0 s for each of 10 "
        "tests, and 60 s. `./meshgrade test -- tests/docs/test_each.py --durations=20` shows its slowest tests. Make "
        "them quicker, or raise the budget in tests/cpu_budget.py and give the reason in the commit."
    ]


def test_every_folder_has_a_budget():
    """Tests for chips are a run of their own."""
    files = [f"tests/{path.relative_to(TESTS)}" for path in TESTS.rglob("test_*.py")]
    folders = {folder_of(file) for file in files} - {"tests/gpu", "tests/tpu"}
    assert folders == FOLDERS_S.keys()
    assert set(files) >= PER_TEST_S.keys()


@pytest.mark.parametrize(
    ("budget", "is_checked", "is_told"),
    [(0, True, True), (0, False, False), (100, True, False)],
    ids=["over", "unchecked", "under"],
)
def test_a_run_warns_of_a_folder_over_its_budget_and_writes_how_long_each_test_took(
    pytester, monkeypatch, budget, is_checked, is_told
):
    """The time of a process that the test starts counts, too."""
    durations = pytester.path / "durations.txt"
    monkeypatch.setenv(cpu_budget.CHECK, "1" if is_checked else "")
    monkeypatch.setenv(folder_times.DURATIONS, str(durations))
    monkeypatch.setattr(cpu_budget, "FOLDERS_S", {"tests": budget})
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "test_one.py").write_text(
        "import subprocess, sys\n"
        "def test_one():\n"
        "    subprocess.run([sys.executable, '-c', 'sum(range(10**6))'], check=True)\n",
        encoding="utf-8",
    )
    plugins = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "tests.folder_times")
    ran = pytester.runpytest_inprocess(*plugins, "--import-mode=importlib")
    ran.assert_outcomes(passed=1)
    assert ran.ret == 0
    assert ("tests took" in ran.stdout.str()) == is_told
    first, *others = durations.read_text(encoding="utf-8").splitlines()
    assert first.endswith("s call     tests/test_one.py::test_one")
    assert len(others) == 2
