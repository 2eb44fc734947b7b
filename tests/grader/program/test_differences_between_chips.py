"""What sets the programs of two sources apart on chips: communication, what hides it, memory and work."""

from dataclasses import replace

import pytest

from grader.core.chips import CHIPS
from grader.program.differences import differences
from grader.program.differences_between_chips import compare_on_chip, differences_between_chips
from grader.program.measurement import Measured
from grader.program.memory import Memory
from grader.program.on_chip import ChipFacts, OnChip
from grader.program.schedule import Schedule, ScheduledCollective, ScheduledComputation, Step
from tests.grader.checks.program.made_up_programs import EIGHT, exchange, program
from tests.grader.program.test_gpu_schedule import schedule_of

H100 = CHIPS["h100"]
MEMORY = Memory(argument_bytes=4 << 20, output_bytes=1 << 20, temporary_bytes=2 << 20, alias_bytes=0)
NAMES = ["gathered_ahead", "layers_in_a_loop", "pipelined", "two_hosts", "ring"]


def compiled(schedule: Schedule, *, flops: int | None = 10, peak: int = 8 << 20, memory: Memory = MEMORY) -> ChipFacts:
    return ChipFacts(memory, peak, flops, schedule)


def texts(mine: ChipFacts, other: ChipFacts) -> list[str]:
    return [each.text for each in compare_on_chip(mine, other, H100)]


@pytest.mark.parametrize("name", NAMES)
def test_a_program_does_not_differ_from_itself(name: str) -> None:
    assert texts(compiled(schedule_of(name)), compiled(schedule_of(name))) == []


def test_programs_that_differ_only_in_an_option_of_the_compiler_are_told_apart() -> None:
    """One combines three gathers in one, the other was compiled with a threshold of 0 bytes."""
    combined, apart = compiled(schedule_of("gathered_ahead")), compiled(schedule_of("not_combined"))
    assert texts(combined, apart) == [
        "all-gather over fsdp moves the same 768 KiB in 1 execution (line 11), the other in 3 executions (its line "
        "11).",
        "No kernel runs beside all-gather over fsdp (line 11); kernels run beside 256 KiB of the other's 768 KiB (its "
        "line 11).",
    ]
    assert texts(apart, combined)[1] == (
        "Kernels run beside 256 KiB of the 768 KiB of all-gather over fsdp (line 11); none runs beside the other's "
        "(its line 11)."
    )


def test_the_same_collectives_in_another_order_are_a_difference() -> None:
    found = compare_on_chip(compiled(schedule_of("layers_in_a_loop")), compiled(schedule_of("pipelined")), H100)
    assert [(each.kind, each.line) for each in found] == [("order", 19), ("order", 19)]
    assert found[1].text == (
        "Collective 2 in the schedule is reduce-scatter over fsdp of 4 MiB (line 19); the other's is all-gather over "
        "fsdp of 4 MiB (its line 19)."
    )


def gather(start: int, done: int, dtype: str = "f32") -> ScheduledCollective:
    return ScheduledCollective("all-gather", (dtype,), ("x",), 8, 1 << 20, 7 << 17, "NVLink", 5, start, done)


def scheduled(*collectives: ScheduledCollective, executions: int = 1, caller: str = "") -> ScheduledComputation:
    steps = tuple(Step(f"s{number}", None, 1_000, 9) for number in range(6))
    return ScheduledComputation("main", caller, executions, steps, collectives)


def test_what_runs_beside_several_collectives_counts_once() -> None:
    """Three steps of 1,000 FLOPs are between the start and the end of each of the two, and four of either."""
    both = compiled(Schedule((scheduled(gather(0, 4), gather(1, 5), executions=3),), 0))
    late = compiled(Schedule((scheduled(gather(0, 3), gather(1, 4), executions=3),), 0))
    assert texts(both, late) == [
        "Beside all-gather over x (line 5) run 12,000 FLOPs of matrix products, 1.33 times the other's 9,000."
    ]


def test_the_dtype_that_is_sent_is_named_where_it_differs() -> None:
    half = compiled(Schedule((scheduled(gather(0, 3, "bf16")),), 0))
    full = compiled(Schedule((scheduled(gather(0, 3)),), 0))
    assert texts(half, full) == [
        "all-gather over x moves 1 MiB of bf16 (line 5), the other's 1 MiB of f32 (its line 5)."
    ]


def test_memory_work_and_donation_are_those_of_the_chip() -> None:
    schedule = Schedule((scheduled(),), 0)
    mine = compiled(schedule, flops=12_000, peak=16 << 20, memory=replace(MEMORY, temporary_bytes=10 << 20))
    other = replace(compiled(schedule, flops=6_000), host_bytes=1 << 20, memory=replace(MEMORY, alias_bytes=1 << 20))
    assert texts(mine, other) == [
        "Each H100 holds 16 MiB at its peak, 2 times the other's 8 MiB.",
        "Each H100 holds 10 MiB of temporaries, 5 times the other's 2 MiB.",
        "Each H100 holds 0 B in the memory of its host, the other's 1 MiB.",
        "Each H100 computes 12,000 FLOPs in matrix products (most on line 9), 2 times the other's 6,000 FLOPs.",
        "0 B on each H100 are overwritten in place, the other overwrites 1 MiB.",
    ]


def on_chip(program: ChipFacts | None, measured: Measured) -> Measured:
    return replace(measured, on_chip=OnChip("h100:8", program, "" if program else "It is too large."))


def test_two_measured_programs_are_compared_on_the_chip_if_both_were_compiled_for_it() -> None:
    host = program(EIGHT)
    ahead = on_chip(compiled(schedule_of("gathered_ahead")), host)
    assert differences_between_chips(host, ahead) == differences_between_chips(host, host) == ()
    assert differences_between_chips(on_chip(None, host), on_chip(None, host)) == ()
    for pair, text in (
        ((on_chip(None, host), ahead), "This program has no program for h100:8; the other has one."),
        ((ahead, on_chip(None, host)), "The other has no program for h100:8; this program has one."),
    ):
        [found] = differences_between_chips(*pair)
        assert (found.kind, found.text) == ("compilation", text)
    assert differences_between_chips(ahead, ahead) == ()


def test_numbers_of_a_program_for_chips_alone_are_not_compared_with_those_of_the_host() -> None:
    gathers, sums = (program(EIGHT, collectives=[exchange(kind, 64)]) for kind in ("all-gather", "all-reduce"))
    assert {each.kind for each in differences(gathers, sums)} == {"collectives"}
    assert differences(replace(gathers, is_only_on_chip=True), sums) == ()
    assert differences(gathers, replace(sums, is_only_on_chip=True)) == ()
