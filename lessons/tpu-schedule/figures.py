"""Draws rounds of the loop as a chip runs them, gathered in turn and gathered ahead, from the compiler's schedules."""

from tests.lessons.scheduled_loops import ROUND, drawn
from tests.lessons.tpu_schedules import cycles_of, forward_loop, hidden_cycles


def figures() -> dict[str, str]:
    loops = {"in_turn": forward_loop("layers_in_a_loop"), "ahead": forward_loop("next_gathered_first")}
    scale = ROUND / max(cycles_of(each) for each in loops.values())
    return {
        f"loop_{name}.svg": drawn(
            f"loop-{name}",
            f"Two rounds of the loop on a chip, gathered {name.replace('_', ' ')}",
            loop,
            lambda step: (step.cycles or 0) * scale,
            f"{hidden_cycles(loop):,} of {cycles_of(loop):,} cycles run during a gather",
        )
        for name, loop in loops.items()
    }
