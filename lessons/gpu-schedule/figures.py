"""Draws a layer of the loop as a GPU runs it, gathered in turn and pipelined, from XLA's schedules."""

from grader.program.schedule import ScheduledComputation
from tests.lessons.drawing import rect, svg, text
from tests.lessons.gpu_schedules import forward_loop, hidden_flops

_LEFT, _PRODUCT, _KERNEL, _ALONE, _ROW, _GAP = 4, 220, 6, 64, 18, 6


def figures() -> dict[str, str]:
    loops = {"in turn": forward_loop("layers_in_a_loop"), "one round ahead": forward_loop("pipelined")}
    body, y = [], 0
    for name, loop in loops.items():
        body.append(text(_LEFT, y + 14, f"gathered {name}"))
        body += _drawn(loop, y + 22)
        y += 22 + 2 * _ROW + _GAP + 16
    described = " ".join(
        f"Gathered {name}: {hidden_flops(loop, loop.collectives[0]):,} FLOPs run during the gather."
        for name, loop in loops.items()
    )
    return {"loop.svg": svg("loop", "One layer of the loop on a GPU", described, y, body)}


def _drawn(loop: ScheduledComputation, y: int) -> list[str]:
    """What computes, above, and the gather from its start to the wait for it, below. A product is the widest."""
    gather = loop.collectives[0]
    shapes, x, begins, ends = [], float(_LEFT), 0.0, 0.0
    for number, step in enumerate(loop.steps):
        if number == gather.start:
            begins = x
        if number in (gather.start, gather.done):
            # How long a gather takes is not known, so one that nothing hides has a width of its own.
            x += _ALONE if number == gather.done and not hidden_flops(loop, gather) else 0
        else:
            width = _PRODUCT if step.flops else _KERNEL
            shapes.append(rect(x, y, width - 1, _ROW, "held of-1"))
            x += width
        if number == gather.done:
            ends = x
    below = y + _ROW + _GAP
    shapes.append(rect(begins, below, ends - begins, _ROW, "held of-2"))
    shapes.append(text(begins + 4, below + 14, "gather", "on-held"))
    return shapes
