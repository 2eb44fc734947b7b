"""Draws collectives in program order, in a lane for each program: the reader's above, the other below."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from markupsafe import Markup

from app.core.web.drawings.placement import label
from app.core.web.drawings.svg import drawing, element, hatching
from app.core.web.drawings.units import TIMES, bytes_text
from grader.verdicts.evidence import Axes, CollectiveCall

# Abbreviations from the documentation of JAX and XLA. Other kinds are drawn with their first letters.
_CODES = {
    "all-gather": "AG",
    "all-reduce": "AR",
    "reduce-scatter": "RS",
    "all-to-all": "A2A",
    "collective-permute": "CP",
}
_KINDS = list(_CODES)
MAX_BLOCKS = 64
_SLOT, _ROW = 26.0, 12
_TALLEST, _SHORTEST = 28.0, 3.0
_ROW_HEIGHT, _TIMES_HEIGHT, _LANE_NAME, _GAP = 44.0, 14.0, 16.0, 2.0


def draw_timeline(title: str, programs: Mapping[str, Sequence[CollectiveCall]]) -> Markup:
    """Draw programs by their names. A block is one collective. Its height is the bytes of one execution; loops add a
    count.
    """
    times = any(block.in_loop or block.executions != 1 for blocks in programs.values() for block in blocks)
    row_height = _ROW_HEIGHT + (_TIMES_HEIGHT if times else 0.0)
    lanes = [(name, blocks[:MAX_BLOCKS]) for name, blocks in programs.items()]
    most = max((block.bytes for _, blocks in lanes for block in blocks), default=0)
    widest = max(min(max((len(blocks) for _, blocks in lanes), default=1), _ROW), 4)
    shapes: list[Markup] = []
    y = 0.0
    for name, blocks in lanes:
        shapes.append(element("text", name if blocks else f"{name}: no collective", x=0, y=y + 11, class_="name"))
        y += _LANE_NAME
        for index, block in enumerate(blocks):
            row, column = divmod(index, _ROW)
            shapes.append(_draw(block, column * _SLOT, y + row * row_height, most))
        y += -(-len(blocks) // _ROW) * row_height + _GAP
    return drawing("timeline", max(widest * _SLOT, 150.0), y, title, _describe(programs), *shapes)


def code(kind: str) -> str:
    return _CODES.get(kind, kind[:3].upper())


def kind_number(kind: str) -> int:
    """The number of its colour."""
    return _KINDS.index(kind) + 1 if kind in _KINDS else 6


def block_text(block: CollectiveCall) -> str:
    """A text for one collective."""
    over = f" over {axes_text(block.axes)}" if block.axes else ""
    return f"{label(block.collective)}{over}, {bytes_text(block.bytes)}{times_text(block)}"


def run_texts(blocks: Sequence[CollectiveCall]) -> tuple[str, ...]:
    """A text for each run of collectives of one kind over the same axes, with the bytes of each."""
    texts = []
    for _, found in groupby(blocks, key=lambda block: (block.collective, block.axes)):
        run = list(found)
        if len(run) == 1:
            texts.append(block_text(run[0]))
            continue
        sizes = ", ".join(bytes_text(each.bytes) + times_text(each).replace(",", "") for each in run)
        over = f" over {axes_text(run[0].axes)}" if run[0].axes else ""
        texts.append(f"{len(run)} {TIMES} {label(run[0].collective)}{over}: {sizes}")
    return tuple(texts)


def axes_text(axes: Axes | None) -> str:
    """`fsdp` or `data, fsdp`; empty if the groups are not axes of the mesh."""
    return ", ".join(map(label, axes or ()))


def times_text(block: CollectiveCall) -> str:
    if block.executions is None:
        return f", {TIMES}?" + (" in a loop" if block.in_loop else "")
    if block.executions == 1 and not block.in_loop:
        return ""
    return f", {TIMES}{block.executions}" + (" in a loop" if block.in_loop else "")


def _draw(block: CollectiveCall, x: float, y: float, most: int) -> Markup:
    height = max(block.bytes / most * _TALLEST if most else 0.0, _SHORTEST)
    base = y + _TALLEST
    left, width, middle = x + 3, _SLOT - 6, x + _SLOT / 2
    shapes = [
        element("title", block_text(block)),
        element(
            "rect",
            x=left,
            y=base - height,
            width=width,
            height=height,
            class_=f"block kind-{kind_number(block.collective)}",
        ),
        element("text", code(block.collective), x=middle, y=base + 11, class_="code"),
    ]
    if block.in_loop:
        shapes.insert(2, hatching(left, base - height, width, height, "hatch"))
    if block.in_loop or block.executions != 1:
        shapes.append(element("text", _times(block.executions), x=middle, y=base + 23, class_="times"))
    return element("g", *shapes)


def _times(executions: int | None) -> str:
    if executions is None:
        return f"{TIMES}?"
    return TIMES + (str(executions) if executions < 1000 else f"{min(executions // 1000, 99)}k+")


def _describe(programs: Mapping[str, Sequence[CollectiveCall]]) -> str:
    counts = ", ".join(f"{name}: {_count(blocks)}" for name, blocks in programs.items())
    return f"{counts}. The page lists all of them."


def _count(blocks: Sequence[CollectiveCall]) -> str:
    return f"{len(blocks)} collective{'' if len(blocks) == 1 else 's'}"
