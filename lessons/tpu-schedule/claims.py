"""The numbers of the lesson, read from programs that libtpu compiled for 8 chips, and from one for 8 host devices.

The texts of the former are stored, so that no test needs libtpu.
"""

import math

from app.learning.explorer.examples import all_examples
from grader.core.chips import CHIPS
from tests.grader.program.scheduled_programs import COMPILERS
from tests.lessons.tpu_schedules import (
    cycles_of,
    forward_loop,
    gathered_ahead_on_cpu,
    hidden_cycles,
    scheduled,
)

_DECODER = next(each for each in all_examples() if each.slug == "decoder-7b")


def compiler():
    """The version of the compiler for TPUs that wrote the programs of the lesson."""
    return COMPILERS["tpu"], ""


def small_side():
    """Rows and columns of each weight of the step with three weights."""
    return gathered_ahead_on_cpu().collectives[0].shapes[0][0], "rows"


def large_side():
    """Rows and columns of each weight of the loops."""
    return math.isqrt(one_layer()[0] // 2), "rows"


def decoder():
    """The parameters of the largest example of the Explorer."""
    leaves = [math.prod(each.shape) for each in _DECODER.function.inputs if each.name.startswith("params/")]
    return round(sum(leaves) / 1e9, 1), "billion parameters"


def decoder_chips():
    """The chips of that example's mesh."""
    return _DECODER.function.devices, "chips"


def cpu_gathered():
    """The bytes of whole weights that the CPU's program of three layers gathers, over all executions."""
    return sum(each.logical_bytes for each in gathered_ahead_on_cpu().collectives if each.kind == "all-gather"), "bytes"


def tpu_gathered():
    """The bytes of whole weights that the TPU's program of the same step gathers."""
    [program] = scheduled("gathered_ahead").computations
    return sum(each.logical_bytes for each in program.collectives if each.kind == "all-gather"), "bytes"


def as_bytes():
    """The bytes that the TPU's program would gather if each value took one byte."""
    return tpu_gathered()[0] // 2, "bytes"


def cpu_sum():
    """How the CPU's program sums the gradients of the three weights."""
    return next(each.kind for each in gathered_ahead_on_cpu().collectives if each.kind != "all-gather"), ""


def tpu_sum():
    """How the TPU's program sums the gradients of the three weights."""
    [program] = scheduled("gathered_ahead").computations
    return next(each.kind for each in program.collectives if each.kind != "all-gather"), ""


def gathers():
    """All-gathers in the TPU's program of three layers."""
    [program] = scheduled("gathered_ahead").computations
    return sum(each.kind == "all-gather" for each in program.collectives), "all-gathers"


def gathers_hidden():
    """All-gathers of that program during which something computes."""
    [program] = scheduled("gathered_ahead").computations
    return sum(each.kind == "all-gather" and each.asynchronous for each in program.collectives), "of them"


def hidden_by():
    """The matrix product that runs during one of these all-gathers."""
    [program] = scheduled("gathered_ahead").computations
    return sum(step.flops or 0 for step in program.between(program.collectives[1])), "FLOPs"


def body_in_turn():
    """The compiler's estimate for the body of a loop that gathers a layer and then uses it."""
    return cycles_of(forward_loop("layers_in_a_loop")), "cycles"


def hidden_in_turn():
    """How much of that body runs during the gather."""
    return hidden_cycles(forward_loop("layers_in_a_loop")), "cycles"


def body_ahead():
    """The compiler's estimate for the body of a loop that gathers the next layer's weight beforehand."""
    return cycles_of(forward_loop("next_gathered_first")), "cycles"


def hidden_ahead():
    """How much of the body of the loop that gathers beforehand runs during the gather."""
    return hidden_cycles(forward_loop("next_gathered_first")), "cycles"


def one_layer():
    """The bytes of a whole weight, as it is gathered in the loop."""
    return forward_loop("next_gathered_first").collectives[0].logical_bytes, "bytes"


def two_layers():
    """Two whole weights, one in use and one on its way."""
    return 2 * one_layer()[0], "bytes"


def all_layers():
    """All whole weights, as many as the rounds of the loop that gathers in turn."""
    return forward_loop("layers_in_a_loop").executions * one_layer()[0], "bytes"


def chip():
    """The memory of a chip of TPU v5e."""
    return CHIPS["v5e"].hbm_bytes, "bytes"
