"""Draws two rounds of a loop over layers as a chip runs them, from the compiler's schedule of its body."""

from collections.abc import Callable

from grader.program.schedule import ScheduledComputation, Step
from tests.lessons.drawing import cell, rect, svg, text

_LEFT, _ALONE, _ROW, _GAP, _TOP, _ROUNDS = 4, 62, 24, 6, 24, 2
# The width that is left of the figure for a round that waits for its gather.
ROUND = 114


def drawn(name: str, title: str, loop: ScheduledComputation, width: Callable[[Step], float], said: str) -> str:
    """Draw the steps that compute above the gather, which lasts until the wait for it, in the colours of their layers.

    Args:
      width: returns the width of a step that computes, in 360ths of the figure.
      said: how much of a round runs during the gather.
    """
    [gather] = (each for each in loop.collectives if each.kind == "all-gather")
    done = gather.start if gather.done is None else gather.done
    # A loop that gathers the next layer's weight needs the first one before it begins.
    ahead = any(step.flops for step in loop.between(gather))
    body, x = [text(_LEFT, 15, said)], float(_LEFT)
    if ahead:
        body += _gather(x, x + _ALONE, 0)
        x += _ALONE
    for layer in range(_ROUNDS):
        begins = x
        for number, step in enumerate(loop.steps):
            begins = x if number == gather.start else begins
            wide = 0 if number in (gather.start, done) else width(step)
            box = (x, _TOP, wide, _ROW, f"held of-{layer + 1}")
            if wide:
                body += cell(*box, layer, "on-held") if step.flops else [rect(*box)]
            # The schedule does not say how long a gather takes, so an exposed one gets a fixed width.
            x += _ALONE if number == done and not ahead else wide
            if number == done:
                body += _gather(begins, x, layer + ahead)
    return svg(name, title, said, _TOP + 2 * _ROW + _GAP + 6, body)


def _gather(begins: float, ends: float, layer: int) -> list[str]:
    y = _TOP + _ROW + _GAP
    bar = rect(begins, y, ends - begins, _ROW, f"held of-{layer + 1}")
    return [bar, text(begins + 4, y + 17, f"gather {layer}", "on-held")]
