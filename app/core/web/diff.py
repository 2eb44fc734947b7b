"""What differs between two sources, line by line, as a page shows it."""

from dataclasses import dataclass
from typing import Literal

from app.core.web.alignment import align
from grader.core.text import plain_text

_AROUND = 3


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

    The lines are safe to show.
    """
    a, b = _lines(old), _lines(new)
    if a == b:
        return []
    lines: list[DiffLine] = []
    for equal, (a0, a1, b0, b1) in align(a, b):
        if equal:
            lines += _equal(a[a0:a1], a0, b0, is_first=not lines, is_last=a1 == len(a) and b1 == len(b))
        else:
            lines += [DiffLine("removed", a0 + place, None, line) for place, line in enumerate(a[a0:a1], 1)]
            lines += [DiffLine("added", None, b0 + place, line) for place, line in enumerate(b[b0:b1], 1)]
    return lines


def _lines(source: str) -> list[str]:
    return plain_text(source).removesuffix("\n").split("\n")


def _equal(lines: list[str], old: int, new: int, *, is_first: bool, is_last: bool) -> list[DiffLine]:
    same = [DiffLine("same", old + place, new + place, line) for place, line in enumerate(lines, 1)]
    head, tail = 0 if is_first else _AROUND, 0 if is_last else _AROUND
    count = len(same) - head - tail
    if count < 2:
        return same
    return [*same[:head], DiffLine("skipped", None, None, "", count), *same[len(same) - tail :]]
