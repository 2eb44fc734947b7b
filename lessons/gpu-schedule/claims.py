"""The numbers of the lesson, read from programs that XLA compiled for H100s, and from one for 8 host devices.

The texts of the former are stored, so that no test needs the compiler.
"""

import math

from grader.core.chips import CHIPS
from tests.grader.program.scheduled_programs import COMPILERS
from tests.lessons.gpu_schedules import collectives, forward_loop, hidden_flops, main_of, scheduled
from tests.lessons.tpu_schedules import gathered_ahead_on_cpu


def compiler():
    """The compiler for GPUs that wrote the programs of the lesson, and its version."""
    return COMPILERS["gpu"], ""


def small_side():
    """Rows and columns of each weight of the step with three weights."""
    return gathered_ahead_on_cpu().collectives[0].shapes[0][0], "rows"


def large_side():
    """Rows and columns of each weight of the loop."""
    loop = forward_loop("layers_in_a_loop")
    return math.isqrt(loop.collectives[0].logical_bytes // 4), "rows"


def cpu_reduced():
    """The bytes that the all-reduce of the CPU's program sums."""
    return sum(each.logical_bytes for each in gathered_ahead_on_cpu().collectives if each.kind == "all-reduce"), "bytes"


def cpu_sent():
    """What a host device sends for the all-reduce of the CPU's program."""
    return sum(each.ring_bytes for each in gathered_ahead_on_cpu().collectives if each.kind == "all-reduce"), "bytes"


def gpu_sent():
    """What an H100 sends for the reduce-scatter that replaces the CPU's all-reduce."""
    return sum(each.ring_bytes for each in collectives("gathered_ahead", "reduce-scatter")), "bytes"


def combined():
    """The weights that one all-gather of the GPU's program gathers."""
    [gather] = collectives("gathered_ahead", "all-gather")
    return len(gather.dtypes), "weights"


def combined_hidden():
    """The FLOPs of the products that run while the combined all-gather is in flight."""
    [gather] = collectives("gathered_ahead", "all-gather")
    return hidden_flops(main_of("gathered_ahead"), gather), "FLOPs"


def apart():
    """The all-gathers of the same program with a combining threshold of zero."""
    return len(collectives("not_combined", "all-gather")), "all-gathers"


def apart_hidden():
    """The all-gathers of that program during which a product runs."""
    main = main_of("not_combined")
    return sum(hidden_flops(main, each) > 0 for each in collectives("not_combined", "all-gather")), "of them"


def loop_hidden():
    """The FLOPs of the products that run during the gather in a loop that gathers a layer and then uses it."""
    loop = forward_loop("layers_in_a_loop")
    return hidden_flops(loop, loop.collectives[0]), "FLOPs"


def pipelined_hidden():
    """The FLOPs of the product that runs during the gather of the same loop with a pipelined all-gather."""
    loop = forward_loop("pipelined")
    return hidden_flops(loop, loop.collectives[0]), "FLOPs"


def rounds():
    """The rounds of the loop that gathers in turn."""
    return forward_loop("layers_in_a_loop").executions, "rounds"


def rounds_pipelined():
    """The rounds of the pipelined loop, whose first gather is before the loop."""
    return forward_loop("pipelined").executions, "rounds"


def rounds_unrolled():
    """The rounds of the loop with double buffering."""
    return forward_loop("double_buffered").executions, "rounds"


def gathers_unrolled():
    """The all-gathers in a round of that loop."""
    return sum(each.kind == "all-gather" for each in forward_loop("double_buffered").collectives), "all-gathers"


def within():
    """What a GPU sends within its host in a step, with one axis within a host and one between two."""
    return sum(each.ring_bytes for each in main_of("two_hosts").collectives if each.link == "NVLink"), "bytes"


def between():
    """What a GPU sends to the other host in that step."""
    return sum(each.ring_bytes for each in main_of("two_hosts").collectives if each.link == "InfiniBand"), "bytes"


def one_axis():
    """What a GPU sends in the same step with one axis over both hosts, in rings that cross InfiniBand."""
    [program] = scheduled("one_axis_over_two_hosts").computations
    return sum(each.ring_bytes for each in program.collectives if each.link == "InfiniBand"), "bytes"


def memory():
    """The memory of an H100."""
    return CHIPS["h100"].hbm_bytes, "bytes"
