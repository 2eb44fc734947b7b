"""The CPU seconds that the tests of each folder have, so that a run does not become slower unnoticed.

`./meshgrade test` warns of a folder that took more in a complete run. It does not fail, because on a busy processor
with two threads per core the same work takes more CPU time. The budgets are about four times what was measured, with
tests on both databases. tests/folder_times.py says what is measured.
"""

from collections import Counter
from collections.abc import Callable

# A complete run sets this variable, and a run of some of the tests does not.
CHECK = "MESHGRADE_TEST_BUDGET"
FOLDERS_S = {
    "tests": 480,
    "tests/app": 240,
    "tests/app/accounts": 240,
    "tests/app/authoring": 300,
    "tests/app/core": 600,
    "tests/app/entry": 900,
    "tests/app/grading": 500,
    "tests/app/learning": 400,
    "tests/app/operations": 240,
    "tests/app/presentation": 120,
    "tests/app/problems": 120,
    "tests/app/teaching": 1500,
    "tests/benchmarks": 800,
    "tests/browser": 2500,
    "tests/deploy": 120,
    "tests/docs": 300,
    "tests/grader": 900,
    "tests/grader/answers": 120,
    "tests/grader/checks": 300,
    "tests/grader/confined": 180,
    "tests/grader/core": 120,
    "tests/grader/explorer": 400,
    "tests/grader/inputs": 120,
    "tests/grader/judging": 300,
    "tests/grader/mistakes": 180,
    "tests/grader/modes": 300,
    "tests/grader/package": 120,
    "tests/grader/program": 300,
    "tests/grader/review": 400,
    "tests/grader/runner": 180,
    "tests/grader/sandbox": 400,
    "tests/grader/verdicts": 120,
    "tests/grader/verifier": 180,
    "tests/hostile": 600,
    "tests/lessons": 600,
    "tests/problems": 600,
    "tests/prose": 240,
    "tests/prove": 600,
    "tests/shipped": 240,
}
# How many of the tests in these files run depends on what changed, so each test has a budget, and a file has one for
# what its tests share. The folder's does not include them.
SHARED_S = 180
PER_TEST_S = {
    "tests/docs/test_commands.py": 60.0,
    "tests/grader/test_call_verdicts.py": 10.0,
    "tests/grader/test_program_verdicts.py": 20.0,
    "tests/hostile/test_hostile.py": 5.0,
}
_SLOWEST = 3


def excesses(cpu_s: Counter[str], tests: Counter[str], folder_of: Callable[[str], str]) -> list[str]:
    """A message for each folder, or file with a budget of its own, that took more than its budget.

    Args:
      cpu_s: CPU seconds by file.
      tests: how many tests of each file ran.
      folder_of: returns the folder that a file counts for.
    """
    messages = []
    for folder, budget in FOLDERS_S.items():
        files = Counter(
            {file: took for file, took in cpu_s.items() if folder_of(file) == folder and file not in PER_TEST_S}
        )
        if (took := sum(files.values())) > budget:
            slowest = ", ".join(f"{file} ({each:.0f} s)" for file, each in files.most_common(_SLOWEST))
            messages.append(_message(folder, took, budget, f"Its slowest files: {slowest}."))
    for file, each in PER_TEST_S.items():
        budget = SHARED_S + each * tests[file]
        if (took := cpu_s[file]) > budget:
            messages.append(
                _message(file, took, budget, f"That is {each} s for each of {tests[file]} tests, and {SHARED_S} s.")
            )
    return messages


def _message(name: str, took: float, budget: float, details: str) -> str:
    return (
        f"{name} took {took:.0f} CPU seconds, {took - budget:.0f} more than its budget of {budget:.0f}. {details} "
        f"`./meshgrade test -- {name} --durations=20` shows its slowest tests. Make them quicker, or raise the budget "
        "in tests/cpu_budget.py and give the reason in the commit."
    )
