"""Draws collectives in program order: a row for each, with its name, axes, bytes and the line that causes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from app.core.web.svg import drawing, element
from app.core.web.units import TIMES, bytes_text
from app.presentation.drawings.placement import label
from grader.explorer.exploration import ExploredCollective
from grader.verdicts.evidence import Axes

_KINDS = ["all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute"]
MAX_BLOCKS = 64
# Further rows are folded.
MAX_OPEN = 10
_WIDTH, _HEIGHT, _THINNEST, _STRIP = 100.0, 8.0, 1.0, 160.0


@dataclass(frozen=True, slots=True)
class Call:
    """One collective. A device sends `bytes` in one execution; `executions` is None if their number is unknown."""

    collective: str
    axes: Axes | None
    bytes: int
    executions: int | None
    in_loop: bool


def draw_timeline(
    title: str,
    programs: Mapping[str, Sequence[Call]],
    anchors: Mapping[str, Sequence[str]] | None = None,
    notes: Mapping[str, Sequence[str]] | None = None,
) -> Markup:
    """Draw programs, side by side with their names if there are several. A bar is as long as the
    bytes beside it, which a device sends in all executions.

    Args:
      anchors: for each program, the id of the line that causes each collective, such as `line-6`, or an empty text.
      notes: likewise, what else there is to say of each collective.
    """
    shown = {name: blocks[:MAX_BLOCKS] for name, blocks in programs.items()}
    most = max((sum(map(_all_bytes, blocks)) for blocks in shown.values()), default=0)
    lanes = [
        _lane(name if len(shown) > 1 else "", blocks, (anchors or {}).get(name, ()), (notes or {}).get(name, ()), most)
        for name, blocks in shown.items()
    ]
    return element("div", *lanes, class_="timelines", role="group", aria_label=title)


def calls_of(collectives: Sequence[ExploredCollective]) -> list[Call]:
    """The collectives of an explored program as these drawings take them."""
    return [
        Call(
            collective=each.collective,
            axes=each.axes,
            bytes=each.ring_bytes,
            executions=each.executions,
            in_loop=each.in_loop,
        )
        for each in collectives
    ]


def kind_number(kind: str) -> int:
    """The number of its colour."""
    return _KINDS.index(kind) + 1 if kind in _KINDS else 6


def block_text(block: Call) -> str:
    """A text for one collective."""
    over = f" over {axes_text(block.axes)}" if block.axes else ""
    name = f"{times_text([block])}{label(block.collective)}{over}{' in a loop' if block.in_loop else ''}"
    return f"{name}, {sent_text(block.executions, _all_bytes(block))}"


def axes_text(axes: Axes | None) -> str:
    """`fsdp` or `data, fsdp`; empty if the groups are not axes of the mesh."""
    return ", ".join(map(label, axes or ()))


def sent_text(executions: int | None, sent: int, *, most: bool = False) -> str:
    """`sends 224.0 MiB`, in all executions together. With `most`, it is the most that there can be."""
    return f"sends {'at most ' * most}{bytes_text(sent)}{' each time' if executions is None else ''}"


def times_text(run: Sequence[Call]) -> str:
    """How often they are executed together, as in `24 x `; empty if once."""
    known = [each.executions for each in run if each.executions is not None]
    if len(known) < len(run):
        return executions_text(None)
    return executions_text(sum(known))


def executions_text(count: int | None) -> str:
    """Before the name of what is executed so often: `24 x `, `? x ` if that is unknown, and empty if once."""
    if count is None:
        return f"? {TIMES} "
    return "" if count == 1 else f"{f'{count:,}' if count < 10**9 else 'many'} {TIMES} "


def _lane(name: str, blocks: Sequence[Call], anchors: Sequence[str], notes: Sequence[str], most: int) -> Markup:
    heading = [element("p", element("strong", name))] if name else []
    if not blocks:
        return element("div", *heading, element("p", "No communication between devices."), class_="timeline")
    none = [""] * len(blocks)
    placed = zip(blocks, anchors or none, notes or none, strict=False)
    rows = [_row([block for block, *_ in run], *key[-2:], most) for key, run in groupby(placed, _kind)]
    shown, more = rows[:MAX_OPEN], rows[MAX_OPEN:]
    folded = [element("details", element("summary", f"{len(more)} more"), element("ol", *more))] if more else []
    return element("div", *heading, element("ol", *shown), *folded, class_="timeline")


def draw_strip(blocks: Sequence[Call], title: str) -> Markup:
    """A small picture without texts: the collectives from left to right, as wide as their bytes."""
    shown = blocks[:MAX_BLOCKS]
    total = sum(map(_all_bytes, shown)) or 1
    shapes, x = [], 0.0
    for block in shown:
        width = max(_STRIP * (_all_bytes(block) * 10_000 // total) / 10_000, 2.0)
        look = f"block kind-{kind_number(block.collective)}"
        shapes.append(element("rect", x=x, y=0, width=width, height=_HEIGHT, class_=look))
        x += width + 1.0
    return drawing("timeline", max(x, _STRIP), _HEIGHT, title, "; ".join(map(block_text, shown)), *shapes)


def _kind(placed: tuple[Call, str, str]) -> tuple[str, Axes | None, bool, int | None, str, str]:
    """Neighbours with an equal one are one row."""
    block, anchor, note = placed
    return block.collective, block.axes, block.in_loop, block.executions, anchor, note


def _row(run: Sequence[Call], anchor: str, note: str, most: int) -> Markup:
    block = run[0]
    over = [" over ", element("b", axes_text(block.axes))] if block.axes else []
    loop = [element("span", " in a loop", class_="soft")] if block.in_loop else []
    count = times_text(run)
    sent = sum(map(_all_bytes, run))
    more = [element("span", f", {note}", class_="soft")] if note else []
    # Whole numbers of any length: a float could not hold them.
    length = max(_WIDTH * (sent * 10_000 // most) / 10_000, _THINNEST) if most else 0.0
    kind = f"kind-{kind_number(block.collective)}"
    bar = element(
        "svg",
        element("rect", x=0, y=0, width=length, height=_HEIGHT, class_=f"block {kind}"),
        class_="bar-drawing",
        aria_hidden="true",
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        preserveAspectRatio="none",
    )
    number = anchor.rpartition("-")[2]
    return element(
        "li",
        element("span", count, element("strong", label(block.collective)), *over, *loop, *more, class_="what"),
        bar,
        element("span", sent_text(block.executions, sent), class_="number"),
        *([element("a", f"line {number}", href=f"#{anchor}")] if anchor else []),
        data_of_line=anchor or None,
        class_=f"{kind} is-looped" if block.in_loop else kind,
    )


def _all_bytes(block: Call) -> int:
    return block.bytes * (block.executions or 1)
