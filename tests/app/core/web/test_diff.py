"""The difference between two sources: every line of both is shown or counted, whatever they contain."""

import random
import time

import pytest

from app.core.web.diff import diff_lines


def applied(old: str, new: str) -> tuple[list[str], list[str]]:
    """The old and the new text that the lines of a difference make up, as far as they are shown."""
    lines = diff_lines(old, new)
    return (
        [line.text for line in lines if line.kind in {"same", "removed"}],
        [line.text for line in lines if line.kind in {"same", "added"}],
    )


def test_a_changed_line_is_removed_and_added_between_three_equal_ones() -> None:
    old = "\n".join(f"line {number}" for number in range(1, 21))
    lines = diff_lines(old, old.replace("line 10", "line ten"))
    assert [(line.kind, line.old, line.new, line.text, line.count) for line in lines] == [
        ("skipped", None, None, "", 6),
        ("same", 7, 7, "line 7", 1),
        ("same", 8, 8, "line 8", 1),
        ("same", 9, 9, "line 9", 1),
        ("removed", 10, None, "line 10", 1),
        ("added", None, 10, "line ten", 1),
        ("same", 11, 11, "line 11", 1),
        ("same", 12, 12, "line 12", 1),
        ("same", 13, 13, "line 13", 1),
        ("skipped", None, None, "", 7),
    ]


@pytest.mark.parametrize("text", ["", "x", "x\n", "a\nb\n"])
def test_equal_texts_have_no_difference(text: str) -> None:
    assert diff_lines(text, text) == []
    assert diff_lines(text, text.replace("\n", "\r\n")) == []


def test_a_terminal_sequence_is_shown_and_does_nothing() -> None:
    [removed, added] = diff_lines("x = '\x1b[31m\x07'\n", "x\u202e\n")
    assert (removed.text, added.text) == ("x = '␇'", "x⟨U+202E⟩")


@pytest.mark.parametrize("seed", range(30))
def test_every_line_of_both_is_there_or_counted(seed: int) -> None:
    draw = random.Random(seed)
    old = [draw.choice("abcdef") for _ in range(draw.randrange(40))]
    new = [line for line in old if draw.random() > 0.3] + [draw.choice("xyz") for _ in range(draw.randrange(5))]
    lines = diff_lines("\n".join(old), "\n".join(new))
    if not lines:
        assert old == new
        return
    skipped = sum(line.count for line in lines if line.kind == "skipped")
    removed, added = applied("\n".join(old), "\n".join(new))
    assert len(removed) + skipped == max(1, len(old))
    assert len(added) + skipped == max(1, len(new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x\n" * 30_000, "y\n" * 30_000),
        ("x\ny\n" * 900, "y\nx\n" * 800),
        ("".join(f"{number % 20}\n" for number in range(1900)), "".join(f"{number % 19}\n" for number in range(1900))),
        ("x\n" * 30_000, "x\n" * 29_999),
    ],
)
def test_a_long_source_takes_no_time(old: str, new: str) -> None:
    begin = time.thread_time()
    assert diff_lines(old, new)
    assert time.thread_time() - begin < 3
