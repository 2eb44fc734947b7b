"""What differs between two sources, line by line, as a page shows it."""

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from app.web.terminal import plain_text

_AROUND = 3
# difflib takes quadratic time where many lines are alike. Beyond this, the changed part is shown as replaced.
_MOST_LINES = 2000


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line. `old` and `new` are its numbers in the two sources. `count` says for how many equal lines it stands."""

    kind: Literal["same", "removed", "added", "skipped"]
    old: int | None
    new: int | None
    text: str
    count: int = 1


def diff_lines(old: str, new: str) -> list[DiffLine]:
    """From `old` to `new`, with three equal lines around each change; empty if no line differs.

    The lines are safe to show. It may take a second: call it in a thread.
    """
    a, b = _lines(old), _lines(new)
    if a == b:
        return []
    start = _common(a, b)
    end = _common(a[start:][::-1], b[start:][::-1])
    lines: list[DiffLine] = []
    for tag, a0, a1, b0, b1 in _operations(a, b, start, end):
        if tag == "equal":
            lines += _equal(a[a0:a1], a0, b0, is_first=not lines, is_last=a1 == len(a) and b1 == len(b))
        else:
            lines += [DiffLine("removed", a0 + place, None, line) for place, line in enumerate(a[a0:a1], 1)]
            lines += [DiffLine("added", None, b0 + place, line) for place, line in enumerate(b[b0:b1], 1)]
    return lines


def _lines(source: str) -> list[str]:
    return plain_text(source).removesuffix("\n").split("\n")


def _common(a: list[str], b: list[str]) -> int:
    """How many lines both begin with."""
    return next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _operations(a: list[str], b: list[str], start: int, end: int) -> list[tuple[str, int, int, int, int]]:
    """What `SequenceMatcher` finds between the common beginning and the common end, and these two themselves."""
    a_end, b_end = len(a) - end, len(b) - end
    middle_a, middle_b = a[start:a_end], b[start:b_end]
    found = (
        SequenceMatcher(None, middle_a, middle_b).get_opcodes()
        if max(len(middle_a), len(middle_b)) <= _MOST_LINES
        else [("replace", 0, len(middle_a), 0, len(middle_b))]
    )
    around = [("equal", 0, start, 0, start)] if start else []
    rest = [(tag, a0 + start, a1 + start, b0 + start, b1 + start) for tag, a0, a1, b0, b1 in found]
    return [*around, *rest, *([("equal", a_end, len(a), b_end, len(b))] if end else [])]


def _equal(lines: list[str], old: int, new: int, *, is_first: bool, is_last: bool) -> list[DiffLine]:
    same = [DiffLine("same", old + place, new + place, line) for place, line in enumerate(lines, 1)]
    head, tail = 0 if is_first else _AROUND, 0 if is_last else _AROUND
    count = len(same) - head - tail
    if count < 2:
        return same
    return [*same[:head], DiffLine("skipped", None, None, "", count), *same[len(same) - tail :]]
