"""What one run in eight does: a whole run takes one part of eight, another one for each commit, and `--all` takes all.

`./meshgrade test` chooses the part and names it in MESHGRADE_TEST_PART: `3/8`, or `all`. Of the submissions that ship
with the problems, each part has an eighth (tests/grader/shipped.py). A test marked `part(3)` runs in the third part
alone: it shows that a benchmark works, which takes half a minute and seldom changes.
"""

import os

import pytest

EVERY = "all"
PART = os.environ.get("MESHGRADE_TEST_PART") or "1/8"


def part_of(names: list[str], part: str) -> list[str]:
    """Those of a part: the names dealt out in turn, so that each is in one part and a problem is in most."""
    if part == EVERY:
        return names
    number, parts = map(int, part.split("/"))
    return names[number - 1 :: parts]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "part(number): run in one part of eight and with --all; see tests/parts.py")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if not _is_chosen(item, PART)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _is_chosen(item, PART)]


def _is_chosen(item: pytest.Item, part: str) -> bool:
    mark = item.get_closest_marker("part")
    return mark is None or part in (EVERY, f"{mark.args[0]}/8")
