"""The schedule of a program for GPUs, read from texts that XLA wrote for the programs in scheduled_programs.py."""

import math
from dataclasses import replace

import pytest

from grader.core.chips import CHIPS
from grader.program.differences_on_chip import difference_in_products, differences_on_chip
from grader.program.hlo import read_hlo
from grader.program.schedule import Schedule, ScheduledComputation
from grader.program.schedule_reader import read_schedule
from tests.grader.checks.program.made_up_programs import EIGHT, exchange, program
from tests.grader.program.scheduled_programs import FOLDERS, VARIANTS

PRODUCT = 2 * 1024**3


def schedule_of(name: str) -> Schedule:
    return schedule_in((FOLDERS["gpu"] / f"{name}.txt").read_text(), name)


def schedule_in(text: str, name: str) -> Schedule:
    """The schedule in the text of the program of this name, on its mesh."""
    _, axes, _ = VARIANTS.get(name, ("", {"fsdp": 8}, {}))
    return read_schedule(read_hlo(text), math.prod(axes.values()), axes, CHIPS["h100"])


def communication(computation: ScheduledComputation) -> list[tuple[str, int, int, int]]:
    """Each collective: its kind, how many arrays it carries, and the kernels and FLOPs that hide it."""
    return [
        (
            each.kind,
            len(each.dtypes),
            len(computation.kernels_between(each)),
            sum(step.flops or 0 for step in computation.between(each)),
        )
        for each in computation.collectives
    ]


def test_weights_are_gathered_in_one_and_gradients_reduced_and_scattered_in_one() -> None:
    [main] = schedule_of("gathered_ahead").computations
    assert communication(main) == [("all-gather", 3, 0, 0), ("reduce-scatter", 3, 0, 0)]
    for each in main.collectives:
        assert (each.axes, each.group_size, each.link, each.line) == (("fsdp",), 8, "NVLink", 11)
        assert each.logical_bytes == 3 * 256 * 256 * 4
        assert each.ring_bytes == each.logical_bytes * 7 // 8


def test_a_gather_of_the_next_round_is_hidden_by_the_product_of_this_one() -> None:
    main, _, body = schedule_of("next_gathered_first").computations
    assert communication(body) == [("all-gather", 1, 3, PRODUCT)]
    assert body.executions == 3
    # The first one has no product beside it.
    assert communication(main) == [("all-gather", 1, 3, 0)]


def test_a_gather_that_the_product_needs_is_not_hidden_and_its_gradient_is() -> None:
    main, _, forward, _, backward = schedule_of("layers_in_a_loop").computations
    assert communication(forward) == [("all-gather", 1, 0, 0)]
    assert communication(backward) == [("all-gather", 1, 0, 0), ("reduce-scatter", 1, 4, PRODUCT)]
    # XLA takes one round of the backward loop out of it.
    assert [forward.executions, backward.executions] == [4, 3]
    assert communication(main) == [("all-gather", 1, 0, 0), ("reduce-scatter", 1, 0, 0)]


def test_a_permute_in_a_ring_is_hidden_by_the_product_beside_it() -> None:
    _, _, body = schedule_of("ring").computations
    assert communication(body) == [("collective-permute", 1, 2, PRODUCT)]
    [each] = body.collectives
    assert (each.line, body.executions) == (30, 8)


def test_a_gather_is_hidden_by_the_gradients_of_a_convolution() -> None:
    [main] = schedule_of("convolution_gradients").computations
    # 8 images of 16x16 on each device, and a kernel of 3x3 that moves by 2 over one row and column of padding.
    convolution = 2 * 8 * 32 * 64 * (8 * 3 - 1) ** 2
    gradients = {step.name: step.flops for step in main.steps if step.flops}
    assert gradients == {"cudnn-conv-bw-filter.2": convolution, "cudnn-conv-bw-input.2": convolution}
    [(kind, _, _, hidden_by)] = communication(main)
    assert (kind, hidden_by) == ("all-gather", 2 * convolution)


def test_a_sum_that_nothing_hides_is_synchronous() -> None:
    """XLA writes a start and a wait for it, and marks them with `is_sync`."""
    [main] = schedule_of("summed_gradients").computations
    assert communication(main) == [("all-reduce", 1, 0, 0)]
    [each] = main.collectives
    assert (each.asynchronous, each.done) == (False, each.start)
    text = (FOLDERS["gpu"] / "summed_gradients.txt").read_text()
    [apart] = schedule_in(text.replace('"is_sync":true', '"is_sync":false'), "summed_gradients").computations
    [each] = apart.collectives
    assert (each.asynchronous, each.done) == (True, each.start + 1)
    assert len(apart.steps) == len(main.steps) + 1


def test_a_reduce_scatter_in_place_of_an_all_reduce_is_said_in_one_sentence() -> None:
    size = 3 * 256 * 256 * 4
    measured = program(EIGHT, collectives=[exchange("all-gather", size), exchange("all-reduce", size)])
    collectives = [each for each in measured.facts.census.collectives]
    mesh = measured.mesh
    [axis] = mesh
    schedule = read_schedule(read_hlo((FOLDERS["gpu"] / "gathered_ahead.txt").read_text()), 8, {axis: 8}, CHIPS["h100"])
    assert differences_on_chip(collectives, mesh, schedule, CHIPS["h100"]) == [
        f"On the H100, reduce-scatter over {axis} does for 768 KiB what all-reduce does on the CPU: each device sends "
        "half as much."
    ]


def test_bfloat16_that_the_cpu_reduces_as_float32_is_compared_by_elements() -> None:
    size = 3 * 256 * 256 * 4
    measured = program(EIGHT, collectives=[exchange("all-gather", size), exchange("all-reduce", size)])
    [axis] = measured.mesh
    schedule = read_schedule(read_hlo((FOLDERS["gpu"] / "gathered_ahead.txt").read_text()), 8, {axis: 8}, CHIPS["h100"])
    [main] = schedule.computations
    gather, scatter = main.collectives
    narrow = replace(scatter, dtypes=("bf16",) * 3, logical_bytes=size // 2, ring_bytes=scatter.ring_bytes // 2)
    schedule = replace(schedule, computations=(replace(main, collectives=(gather, narrow)),))
    assert differences_on_chip(measured.facts.census.collectives, measured.mesh, schedule, CHIPS["h100"]) == [
        f"On the H100, reduce-scatter over {axis} of bf16, 384 KiB, does what all-reduce of f32, 768 KiB, does on the "
        "CPU: each device sends half of the elements, and each has half of the bytes."
    ]


def test_products_that_only_one_of_the_programs_computes_are_said() -> None:
    chip = CHIPS["h100"]
    assert difference_in_products(chip, 49, 49, recomputes=True) == []
    assert difference_in_products(chip, None, 49, recomputes=True) == []
    more = "On the H100, matrix products compute 66,571,993,088 FLOPs, and on the CPU 49,392,123,904."
    flops = (49_392_123_904, 66_571_993_088)
    assert difference_in_products(chip, *flops, recomputes=False) == [more]
    [said] = difference_in_products(chip, *flops, recomputes=True)
    assert said.startswith(more)
    assert "`jax.checkpoint` outside a loop" in said
    assert difference_in_products(chip, *flops[::-1], recomputes=True) == [
        "On the H100, matrix products compute 49,392,123,904 FLOPs, and on the CPU 66,571,993,088."
    ]


def test_what_stays_within_a_host_crosses_nvlink_and_what_leaves_it_infiniband() -> None:
    [main] = schedule_of("two_hosts").computations
    assert [(each.kind, each.axes, each.link) for each in main.collectives] == [
        ("all-gather", ("fsdp",), "NVLink"),
        ("reduce-scatter", ("fsdp",), "NVLink"),
        ("all-reduce", ("data",), "InfiniBand"),
    ]
    # The gradients of one shard, concatenated in one buffer, which has no line of its own.
    assert main.collectives[2].logical_bytes == 3 * 256 * 256 * 4 // 8
    assert main.collectives[2].line == 11
    [main] = schedule_of("one_axis_over_two_hosts").computations
    assert {(each.axes, each.group_size, each.link) for each in main.collectives} == {(("fsdp",), 16, "InfiniBand")}


def test_gathers_that_are_not_combined_are_hidden_by_the_products_before_them() -> None:
    [main] = schedule_of("not_combined").computations
    assert [each[1] for each in communication(main)] == [1, 1, 1, 3]
    assert [each[3] > 0 for each in communication(main)] == [False, False, True, False]


def test_a_pipelined_gather_moves_into_the_round_before() -> None:
    _, _, forward, *_ = schedule_of("pipelined").computations
    assert communication(forward) == [("all-gather", 1, 5, PRODUCT)]
    assert forward.executions == 3


@pytest.mark.parametrize("name", ["gathered_ahead", "layers_in_a_loop", "next_gathered_first", "ring"])
def test_a_step_is_a_kernel_or_communicates(name: str) -> None:
    for computation in schedule_of(name).computations:
        assert all(not step.name.startswith(("param", "constant", "tuple", "bitcast")) for step in computation.steps)
        assert all(step.cycles is None for step in computation.steps)
