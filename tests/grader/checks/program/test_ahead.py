"""What a loop fetches is for a later round."""

from typing import Any

from grader.checks.finding import Finding
from grader.checks.program.ahead import Bounds, check
from grader.program.collectives import Collective
from tests.grader.checks.program.made_up_programs import EIGHT, exchange, program, subject


def in_loop(kind: str = "all-gather", **changes: Any) -> Collective:
    return exchange(kind, 1024, loops=("while.1",), executions=3, **changes)


def finding_of(*collectives: Collective, **bounds: Any) -> Finding:
    reference = program(EIGHT, collectives=[in_loop()])
    return check(subject((program(EIGHT, collectives=collectives), reference)), Bounds(**bounds))


def test_a_gather_for_the_next_round_passes() -> None:
    found = finding_of(exchange("all-gather", 1024, takes_turns=False), in_loop())
    assert (found.passed, found.reason) == (True, None)
    assert found.evidence[0].values == {"collectives": 1, "take turns with a product": 0}  # type: ignore[union-attr]


def test_one_that_takes_turns_is_named_with_its_line() -> None:
    found = finding_of(in_loop(), in_loop(takes_turns=True, source_line=12))
    assert (found.passed, found.reason) == (False, "wrong_communication")
    assert "the all-gather on line 12 (1 KiB) and a matrix product of the same round take turns" in found.message


def test_one_that_waits_in_the_exported_program_alone_does_not_pass() -> None:
    """The CPU's compiler drops an optimization_barrier."""
    mine = program(EIGHT, collectives=[in_loop()], written_turns=["all-gather", "all-reduce"])
    pair = mine, program(EIGHT, collectives=[in_loop()])
    found = check(subject(pair), Bounds())
    assert (found.passed, found.reason) == (False, "wrong_communication")
    assert "as the program is written, an all-gather and a matrix product of the same round take turns" in found.message
    assert check(subject(pair), Bounds(kinds=["all-to-all"])).message.startswith("On mesh x=8, no loop contains")


def test_a_loop_without_one_does_not_pass() -> None:
    for others in ((), (exchange("all-gather", 1024),), (in_loop("all-reduce"),)):
        found = finding_of(*others)
        assert found.message == ("On mesh x=8, no loop contains an all-gather. Fetch inside the loop, one round ahead.")


def test_a_loop_without_products_hides_nothing() -> None:
    found = finding_of(in_loop(), in_loop(beside_products=False, source_line=12))
    assert (found.passed, found.reason) == (False, "wrong_communication")
    assert "the loop with the all-gather on line 12 (1 KiB) computes no matrix product" in found.message
    assert finding_of(in_loop(), exchange("all-gather", 1024, beside_products=False)).passed


def test_other_kinds_and_small_ones_are_ignored() -> None:
    small = exchange("all-gather", 8, loops=("while.1",), executions=3, takes_turns=True)
    assert finding_of(in_loop(), small, in_loop("all-reduce", takes_turns=True)).passed
    assert not finding_of(in_loop("all-reduce", takes_turns=True), kinds=["all-gather", "all-reduce"]).passed
