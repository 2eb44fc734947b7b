"""Draws a layer of the loop as a chip runs it, gathered in turn and gathered ahead, from the compiler's schedules."""

from grader.program.schedule import ScheduledComputation
from tests.lessons.tpu_schedules import cycles_of, forward_loop, hidden_cycles

_LEFT, _WIDE, _ALONE, _ROW, _GAP = 4, 270, 60, 18, 6


def figures() -> dict[str, str]:
    loops = {"in turn": forward_loop("layers_in_a_loop"), "the next one first": forward_loop("next_gathered_first")}
    scale = _WIDE / max(cycles_of(each) for each in loops.values())
    body, y = [], 0
    for name, loop in loops.items():
        body.append(f'<text x="{_LEFT}" y="{y + 14}">gathered {name}</text>')
        body += _drawn(loop, scale, y + 22)
        y += 22 + 2 * _ROW + _GAP + 16
    described = " ".join(
        f"Gathered {name}: {cycles_of(loop):,} cycles, of which {hidden_cycles(loop):,} run during the gather."
        for name, loop in loops.items()
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {y}" role="img" '
        'aria-labelledby="loop-title loop-desc">',
        '<title id="loop-title">One layer of the loop on a chip</title>',
        f'<desc id="loop-desc">{described}</desc>',
        *body,
        "</svg>",
    ]
    return {"loop.svg": "\n".join(lines) + "\n"}


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
            shapes.append(f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{_ROW}" class="held of-1"/>')
        x += width
        if number == done:
            ends = x
    below = y + _ROW + _GAP
    shapes.append(f'<rect x="{begins:.0f}" y="{below}" width="{ends - begins:.0f}" height="{_ROW}" class="held of-2"/>')
    shapes.append(f'<text x="{begins + 4:.0f}" y="{below + 13}">gather</text>')
    return shapes
