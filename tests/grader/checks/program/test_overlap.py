"""What a TPU's schedule computes while a collective of a loop travels, in printed and made-up schedules."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from grader.checks.finding import Finding
from grader.checks.program.overlap import Bounds, check
from grader.program.memory import Memory
from grader.program.on_chip import ChipFacts, OnChip
from grader.program.schedule import Schedule, ScheduledCollective, ScheduledComputation, Step
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, program, subject
from tests.grader.program.test_schedule import schedule_of

TOPOLOGY = "v5e:2x4"


def finding_of(schedule: Schedule, **bounds: Any) -> Finding:
    program = ChipFacts(Memory(0, 0, 0, 0), 0, None, schedule)
    return found_on(OnChip(TOPOLOGY, program, compiler="libtpu 0.0.42.1"), **bounds)


def found_on(on_chip: OnChip, **bounds: Any) -> Finding:
    pairs = [(program(mesh), program(mesh)) for mesh in (EIGHT, FOUR)]
    on_chips = {TOPOLOGY: on_chip}
    return check(replace(subject(*pairs), on_chip=on_chips), Bounds(topology=TOPOLOGY, **bounds))


def loop(*flops: int | None, start: int = 0, done: int | None = 1, executions: int | None = 3) -> Schedule:
    """A loop of steps with these operations, and a gather from step `start` to the wait at `done`."""
    steps = tuple(Step(f"step.{number}", None, each, 5) for number, each in enumerate(flops))
    gather = ScheduledCollective("all-gather", ("bf16",), ("x",), 8, 8192, 7168, "ICI", 12, start, done)
    body = ScheduledComputation("body", "while.1", executions, steps, (gather,))
    return Schedule((ScheduledComputation("main", "", 1, (Step("while.1", 1, 1, 5),), ()), body), 0)


def test_a_gather_of_the_next_layer_is_hidden() -> None:
    found = finding_of(schedule_of("next_gathered_first"))
    assert (found.passed, found.message) == (
        True,
        "On v5e:2x4 (libtpu 0.0.42.1), the collective in the loop is hidden by matrix products.",
    )
    [amounts] = found.evidence
    [row] = amounts.rows  # type: ignore[union-attr]
    assert row.mine == row.whole == 2 * 1024 * 1024 * 1024
    assert amounts.mesh == EIGHT  # type: ignore[union-attr]


def test_a_gather_that_the_product_waits_for_is_not() -> None:
    found = finding_of(schedule_of("layers_in_a_loop"))
    assert (found.passed, found.reason) == (False, "wrong_communication")
    assert "On v5e:2x4 (libtpu 0.0.42.1), the chip waits for the all-gather on line" in found.message
    assert "This problem requires 50% of them." in found.message


def test_a_part_of_the_products_is_not_enough() -> None:
    assert finding_of(loop(0, 50, 0, 50, done=2)).passed
    found = finding_of(loop(0, 49, 0, 51, done=2))
    assert "49% of the operations in the round's matrix products run while the all-gather on line 12 is in flight." in (
        found.message
    )
    assert finding_of(loop(0, 49, 0, 51, done=2), at_least=0.4).passed


def test_a_wait_in_the_next_round_hides_it_with_the_rest_of_this_one() -> None:
    assert finding_of(loop(10, 0, 90, start=1, done=None)).passed


def test_nothing_passes_by_having_nothing_to_hide() -> None:
    assert finding_of(schedule_of("gathered_ahead")).message == (
        "On v5e:2x4 (libtpu 0.0.42.1), no loop of the chip's program contains all-gather."
    )
    assert "computes no matrix product" in finding_of(loop(0, 0, 0, done=2)).message
    assert "cannot be counted" in finding_of(loop(0, None, 0, done=2)).message
    # Too small to count, so there is none.
    assert not finding_of(loop(0, 100, 0, done=2), ignore_below=8193).passed
    assert not finding_of(replace(loop(0, 100, 0, done=2), left_out=1)).passed


def test_without_a_compiler_it_is_not_checked_and_passes() -> None:
    found = found_on(OnChip(TOPOLOGY, None, "Not checked: the TPU compiler is not installed here.", tried=False))
    assert (found.passed, found.checked, found.reason) == (True, False, None)
    assert found.message == "Not checked: the TPU compiler is not installed here."


def test_what_the_compiler_refuses_does_not_pass() -> None:
    found = found_on(OnChip(TOPOLOGY, None, "The compiler ended without an answer."))
    assert (found.passed, found.checked, found.reason) == (False, True, "wrong_communication")
    assert found.message == ("On v5e:2x4, there is no program to check. The compiler ended without an answer.")


@pytest.mark.parametrize(
    ("topology", "message"),
    [
        ("v4:2x2", "there is no topology 'v4:2x2'. Write it as h100:8 or v5e:2x4"),
        ("v5e:3x3", "has no slice '3x3' here. Use one of"),
    ],
)
def test_a_slice_that_does_not_exist_is_refused(topology: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Bounds(topology=topology)


def on_several(gpu: OnChip, tpu: OnChip) -> Finding:
    pairs = [(program(mesh), program(mesh)) for mesh in (EIGHT, FOUR)]
    on_chips = {"h100:8": gpu, TOPOLOGY: tpu}
    return check(replace(subject(*pairs), on_chip=on_chips), Bounds(topology=["h100:8", TOPOLOGY]))


def compiled(topology: str, schedule: Schedule) -> OnChip:
    return OnChip(topology, ChipFacts(Memory(0, 0, 0, 0), 0, None, schedule), compiler="a compiler")


def test_each_of_several_slices_has_to_pass_and_shows_what_it_found() -> None:
    hides, waits = loop(0, 50, 0, 50, done=2), loop(0, 0, 0, 100, done=2)
    found = on_several(compiled("h100:8", hides), compiled(TOPOLOGY, hides))
    assert (found.passed, found.checked, len(found.evidence)) == (True, True, 2)
    assert found.message.count("is hidden by matrix products") == 2
    found = on_several(compiled("h100:8", waits), compiled(TOPOLOGY, hides))
    assert (found.passed, len(found.evidence)) == (False, 2)
    assert found.message.startswith("On h100:8 (a compiler), 0% of the operations")
    found = on_several(compiled("h100:8", waits), compiled(TOPOLOGY, waits))
    assert len(found.message.splitlines()) == 2
    assert len(found.headlines) == 1


def test_a_slice_whose_compiler_is_missing_does_not_decide() -> None:
    missing = OnChip("h100:8", None, "Not checked: the GPU compiler is not installed here.", tried=False)
    found = on_several(missing, compiled(TOPOLOGY, loop(0, 50, 0, 50, done=2)))
    assert (found.passed, found.checked) == (True, True)
    assert "Not checked: the GPU compiler" in found.message
    assert not on_several(missing, compiled(TOPOLOGY, loop(0, 0, 0, 100, done=2))).passed
    both = on_several(missing, replace(missing, topology=TOPOLOGY))
    assert (both.passed, both.checked) == (True, False)
