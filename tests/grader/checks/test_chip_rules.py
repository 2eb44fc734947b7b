"""Bounds of the checks `collectives` and `memory` on the programs of a chip's compiler, in made-up schedules."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from grader.checks.finding import Finding
from grader.checks.program import collectives, memory
from grader.checks.program_subject import Subject
from grader.checks.topology import slices_in
from grader.program.memory import Memory
from grader.program.on_chip import ChipFacts, OnChip
from grader.program.schedule import Schedule, ScheduledCollective, ScheduledComputation, Step
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, exchange, program, subject

# The leaf `w` of the made-up programs, which is the group `params`.
WHOLE = 32_768
MISSING = OnChip("h100:8", None, "Not checked: the GPU compiler is not installed here.", tried=False)


def runs(kind: str, size: int, axes: tuple[str, ...] | None = ("x",)) -> ScheduledCollective:
    return ScheduledCollective(kind, ("f32",), axes, 8, size, size * 7 // 8, "NVLink", 12, 0, 1)


def on_chip(
    *inside: ScheduledCollective, body: tuple[ScheduledCollective, ...] = (), times: int | None = 3, held: int = 0
) -> OnChip:
    """A program of these collectives, and of a loop with those of `body`."""
    steps = (Step("step.1", None, 0, 5), Step("step.2", None, 0, 5))
    parts = (
        ScheduledComputation("main", "", 1, steps, inside),
        ScheduledComputation("body", "while", times, steps, body),
    )
    return OnChip("h100:8", ChipFacts(Memory(0, 0, held, 0), held, None, Schedule(parts, 0)), compiler="a compiler")


def usual() -> Subject:
    made = [program(mesh, collectives=[exchange("all-gather", WHOLE, mesh["x"])]) for mesh in (EIGHT, FOUR)]
    return subject(*((each, each) for each in made))


def found_on(program: OnChip, *rules: dict[str, Any]) -> Finding:
    bounds = collectives.Bounds(on_chip={"topology": "h100:8", "rules": list(rules)})
    return collectives.check(replace(usual(), on_chip={"h100:8": program}), bounds)


ONCE = {"kinds": ["reduce-scatter"], "of": "params", "at_least": 1.0, "at_most": 1.0, "means": "Sum once."}
NEVER = {"kinds": ["all-reduce"], "of": "params", "at_most": 0.0}


def test_what_a_chip_communicates_is_bounded_beside_what_host_devices_do() -> None:
    found = found_on(on_chip(runs("reduce-scatter", WHOLE), runs("all-reduce", 4)), ONCE, NEVER)
    assert (found.passed, found.checked) == (True, True)
    assert "On h100:8 (a compiler), collectives move what they should: reduce-scatter 32 KiB" in found.message
    assert found.message.startswith("On mesh x=8")
    found = found_on(on_chip(runs("all-reduce", WHOLE)), ONCE, NEVER)
    assert (found.passed, found.reason) == (False, "wrong_communication")
    assert found.message.splitlines() == [
        "On h100:8 (a compiler), reduce-scatter moves 0 B, 0x the bytes of params; expected 1x. Sum once.",
        "On h100:8 (a compiler), all-reduce moves 32 KiB, 1x the bytes of params; expected none.",
    ]


def test_many_small_pieces_are_not_small() -> None:
    pieces = (runs("all-reduce", 32),)
    assert found_on(on_chip(*pieces), NEVER).passed
    assert not found_on(on_chip(*pieces * 2), NEVER).passed
    assert not found_on(on_chip(body=pieces, times=1024), NEVER).passed
    assert "trip count the compiler does not know" in found_on(on_chip(body=pieces, times=None), NEVER).message


def test_every_trip_of_a_loop_counts_and_a_rule_can_name_the_place() -> None:
    inside = {**ONCE, "at_least": 3.0, "at_most": 3.0, "within": "loops"}
    assert found_on(on_chip(body=(runs("reduce-scatter", WHOLE),)), inside).passed
    assert not found_on(on_chip(runs("reduce-scatter", 3 * WHOLE)), inside).passed
    assert found_on(on_chip(runs("reduce-scatter", 3 * WHOLE)), inside | {"within": "no loop"}).passed
    found = found_on(on_chip(body=(runs("reduce-scatter", WHOLE),), times=None), inside)
    assert "the reduce-scatter on line 12 runs in a loop whose trip count the compiler does not know" in found.message


def test_a_collective_along_no_axis_counts_against_a_rule_and_never_for_it() -> None:
    along = ONCE | {"axes": ["x"]}
    assert found_on(on_chip(runs("reduce-scatter", WHOLE)), along).passed
    assert not found_on(on_chip(runs("reduce-scatter", WHOLE, None)), along).passed
    assert not found_on(on_chip(runs("reduce-scatter", WHOLE), runs("reduce-scatter", WHOLE, None)), along).passed
    assert not found_on(on_chip(runs("reduce-scatter", WHOLE, ("y",))), along).passed


def held(program: OnChip) -> Finding:
    bounds = memory.Bounds(on_chip={"topology": "h100:8", "of": "params", "temporaries_at_most": 2.0})
    return memory.check(replace(usual(), on_chip={"h100:8": program}), bounds)


def test_temporaries_on_a_chip_are_multiples_of_a_group() -> None:
    limit = 2 * WHOLE + memory.SLACK_BYTES
    assert held(on_chip(held=limit)).passed
    found = held(on_chip(held=limit + 1))
    assert (found.passed, found.reason, len(found.evidence)) == (False, "too_much_memory", 3)
    assert found.message == (
        "On h100:8 (a compiler), temporaries take 68 KiB, but only 2 times the 32 KiB of params is allowed."
    )


@pytest.mark.parametrize("check", [held, lambda program: found_on(program, ONCE)])
def test_without_the_compiler_the_rest_is_checked(check: Callable[[OnChip], Finding]) -> None:
    found = check(MISSING)
    assert (found.passed, found.checked) == (True, True)
    assert found.message.endswith("Not checked: the GPU compiler is not installed here.")
    refused = check(replace(MISSING, tried=True, fault="The compiler ended without an answer."))
    assert "there is no program to check. The compiler ended" in refused.message
    assert not refused.passed


def test_too_many_steps_cannot_be_checked() -> None:
    program = on_chip().program
    assert program is not None
    long = replace(on_chip(), program=replace(program, schedule=replace(program.schedule, left_out=1)))
    assert "too many to check. Use a loop." in found_on(long, ONCE).message


def test_the_slices_of_a_check_are_known_and_wrong_ones_are_named() -> None:
    assert slices_in(collectives.Bounds()) == []
    assert slices_in(memory.Bounds(on_chip={"topology": "h100:8", "of": "params", "temporaries_at_most": 1})) == [
        "h100:8"
    ]
    with pytest.raises(ValidationError, match="there is no topology 'h99:8'"):
        collectives.Bounds(on_chip={"topology": "h99:8", "rules": [ONCE]})
    with pytest.raises(ValidationError, match="a rule needs at_least or at_most"):
        collectives.Bounds(on_chip={"topology": "h100:8", "rules": [{"kinds": ["all-reduce"], "of": "params"}]})
