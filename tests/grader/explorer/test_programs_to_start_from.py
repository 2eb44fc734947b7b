"""The programs of docs/bring_your_own.md compile, and the page shows what `explore` prints of them."""

import re

import pytest

from app.learning.explorer.guests import MAX_DEVICES
from grader.judging.judge import Judge
from tests.grader.explorer.own_programs import PAGE, Exploration, explorations, printed, without_leaves

# Together with the other functions, so that they share a sandbox.
pytestmark = pytest.mark.xdist_group("explored functions")
_FIGURE = re.compile(r"\b\d[\d,.]*(?= (KiB|MiB|GiB|times)\b)")


@pytest.mark.parametrize("exploration", explorations(), ids=lambda each: each.id)
def test_the_page_shows_what_is_printed(judge: Judge, exploration: Exploration) -> None:
    text = printed(judge, exploration)
    assert exploration.shown == without_leaves(text), "to fill the page again: tests/grader/explorer/own_programs.py"
    figures = {
        f"{match[0]}\N{MULTIPLICATION SIGN}" if match[1] == "times" else f"{match[0]} {match[1]}"
        for match in _FIGURE.finditer(exploration.prose)
    }
    assert {each for each in figures if not re.search(rf"(?<![\d.]){re.escape(each)}", text)} == set()


def test_each_program_has_a_section() -> None:
    assert len({each.file for each in explorations()}) == 10
    assert len(re.findall(r"^## \d+\. ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) == 10


def test_a_guest_can_explore_each_of_them() -> None:
    assert max(each.function.devices for each in explorations()) <= MAX_DEVICES
