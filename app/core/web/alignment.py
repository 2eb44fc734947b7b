"""Which lines of two texts belong together, found in time that grows with their length and not with its square."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

# Lines that are unique between two aligned ones are looked for again, this often.
_DEPTH = 8
Block = tuple[int, int, int, int]


def align(a: list[str], b: list[str]) -> Iterator[tuple[bool, Block]]:
    """Yield (equal, (a start, a end, b start, b end)) for consecutive blocks that cover both texts, none of them empty.

    Lines that occur once in each text are anchors, as many of them as are in the same order in both (patience diff).
    """
    is_equal, (a0, a1, b0, b1) = True, (0, 0, 0, 0)
    for equal, block in _aligned(a, b, (0, len(a), 0, len(b)), _DEPTH):
        if equal != is_equal:
            if (a0, b0) != (a1, b1):
                yield is_equal, (a0, a1, b0, b1)
            is_equal, a0, b0 = equal, block[0], block[2]
        a1, b1 = block[1], block[3]
    if (a0, b0) != (a1, b1):
        yield is_equal, (a0, a1, b0, b1)


def _aligned(a: list[str], b: list[str], block: Block, depth: int) -> Iterator[tuple[bool, Block]]:
    a0, a1, b0, b1 = block
    start, end = a0, a1
    while start < a1 and start - a0 < b1 - b0 and a[start] == b[b0 + start - a0]:
        start += 1
    while end > start and b1 - (a1 - end) > b0 + start - a0 and a[end - 1] == b[b1 - (a1 - end) - 1]:
        end -= 1
    yield True, (a0, start, b0, b0 + start - a0)
    middle = (start, end, b0 + start - a0, b1 - (a1 - end))
    anchors = _anchors(a, b, middle) if depth else []
    for i, j in anchors:
        yield from _aligned(a, b, (middle[0], i, middle[2], j), depth - 1)
        yield True, (i, i + 1, j, j + 1)
        middle = (i + 1, middle[1], j + 1, middle[3])
    if anchors:
        yield from _aligned(a, b, middle, depth - 1)
    elif middle[0] < middle[1] or middle[2] < middle[3]:
        yield False, middle
    yield True, (end, a1, b1 - (a1 - end), b1)


def _anchors(a: list[str], b: list[str], block: Block) -> list[tuple[int, int]]:
    """The longest series of lines that occur once on each side and are in the same order, as places in both."""
    a0, a1, b0, b1 = block
    once_a, once_b = ({line for line, count in Counter(side).items() if count == 1} for side in (a[a0:a1], b[b0:b1]))
    places = {line: place for place, line in enumerate(b[b0:b1], b0) if line in once_b}
    pairs = [(i, places[a[i]]) for i in range(a0, a1) if a[i] in once_a and a[i] in places]
    # The longest increasing series of the second places: https://en.wikipedia.org/wiki/Patience_sorting
    tops: list[int] = []
    last: list[int] = []
    before: list[int | None] = []
    for number, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        tops[pile : pile + 1] = [j]
        last[pile : pile + 1] = [number]
        before.append(last[pile - 1] if pile else None)
    found: list[tuple[int, int]] = []
    at = last[-1] if last else None
    while at is not None:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]
