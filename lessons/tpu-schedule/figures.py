"""Draws a layer of the loop as a chip runs it, gathered in turn and gathered ahead, from the compiler's schedules."""

from grader.program.schedule import ScheduledComputation
from tests.lessons.drawing import rect, svg, text
from tests.lessons.tpu_schedules import cycles_of, forward_loop, hidden_cycles

_LEFT, _WIDE, _ALONE, _ROW, _GAP = 4, 288, 64, 18, 6


def figures() -> dict[str, str]:
    loops = {"in turn": forward_loop("layers_in_a_loop"), "the next one first": forward_loop("next_gathered_first")}
    scale = _WIDE / max(cycles_of(each) for each in loops.values())
    body, y = [], 0
    for name, loop in loops.items():
        body.append(text(_LEFT, y + 14, f"gathered {name}"))
        body += _drawn(loop, scale, y + 22)
        y += 22 + 2 * _ROW + _GAP + 16
    described = " ".join(
        f"Gathered {name}: {cycles_of(loop):,} cycles, of which {hidden_cycles(loop):,} run during the gather."
        for name, loop in loops.items()
    )
    return {"loop.svg": svg("loop", "One layer of the loop on a chip", described, y, body)}


def _drawn(loop: ScheduledComputation, scale: float, y: int) -> list[str]:
    """What computes, above, and the gather from its start to the wait for it, below."""
    [gather] = (each for each in loop.collectives if each.kind == "all-gather")
    done = gather.start if gather.done is None else gather.done
    shapes, x, begins, ends = [], float(_LEFT), 0.0, 0.0
    for number, step in enumerate(loop.steps):
        if number == gather.start:
            begins = x
        # The compiler estimates no collective, so one that nothing hides has a width of its own.
        width = (step.cycles or 0) * scale if number != gather.start or gather.asynchronous else _ALONE
        if step.cycles:
            shapes.append(rect(x, y, width, _ROW, "held of-1"))
        x += width
        if number == done:
            ends = x
    below = y + _ROW + _GAP
    shapes.append(rect(begins, below, ends - begins, _ROW, "held of-2"))
    shapes.append(text(begins + 4, below + 14, "gather", "on-held"))
    return shapes
