"""Divide the browser tests into groups of whole files. Each group runs in one process, which starts a service for it.

One group took longer than any other work of a run, so the other processes waited for it. More than three groups would
cost more for services and browsers than they save.
"""

from collections.abc import Iterable

NUMBER = 3
# Seconds of the files that took longest, on a busy machine.
LONG_S = {
    "test_pages": 300,
    "test_lessons": 120,
    "test_instructor": 110,
    "test_explorer": 100,
    "test_workbench_space": 90,
    "test_program_verdict": 60,
    "test_journey": 90,
    "test_newcomer": 40,
    "test_answer_form": 60,
    "test_solving": 60,
    "test_exam_of_a_class": 50,
}
OTHER_S = 25


def group_name(number: int) -> str:
    return f"browser {number}"


def grouped(files: Iterable[str]) -> dict[str, str]:
    """The group of each file, by its name without suffix. The longest file goes first, to the group with the least."""
    seconds = dict.fromkeys(range(1, NUMBER + 1), 0)
    found = {}
    for file in sorted(files, key=lambda file: (-LONG_S.get(file, OTHER_S), file)):
        number = min(seconds, key=lambda number: (seconds[number], number))
        seconds[number] += LONG_S.get(file, OTHER_S)
        found[file] = group_name(number)
    return found
