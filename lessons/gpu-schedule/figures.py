"""Draws rounds of the loop as a GPU runs them, gathered in turn and pipelined, from XLA's schedules."""

from grader.program.schedule import Step
from tests.lessons.gpu_schedules import forward_loop, hidden_flops
from tests.lessons.scheduled_loops import ROUND, drawn

# The schedule has no durations, so a kernel gets a fixed width, and a product the rest of a round.
_KERNEL = 3


def figures() -> dict[str, str]:
    loops = {"in_turn": forward_loop("layers_in_a_loop"), "ahead": forward_loop("pipelined")}
    kernels = max(sum(not step.flops for step in loop.steps) for loop in loops.values())

    def width(step: Step) -> float:
        return ROUND - kernels * _KERNEL if step.flops else _KERNEL

    return {
        f"loop_{name}.svg": drawn(
            f"loop-{name}",
            f"Two rounds of the loop on a GPU, gathered {name.replace('_', ' ')}",
            loop,
            width,
            f"{hidden_flops(loop, loop.collectives[0]):,} FLOPs run during a gather",
        )
        for name, loop in loops.items()
    }
