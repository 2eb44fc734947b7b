"""Check that collectives are in flight while matrix products are computed, in the schedule of a compiler for chips.

The schedule is the order in which a chip runs the program. It contains the start of a collective and the wait for it,
and the products between the two hide it. A CPU's program has no schedule, so without this compiler nothing is checked.
"""

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.checks.topology import TopologyBounds, amounts_on, together, unchecked
from grader.checks.wording import Wording, listed
from grader.package.package import ProgramManifest
from grader.program.collective_uses import Kind
from grader.program.on_chip import ChipFacts
from grader.program.schedule import MAX_STEPS, ScheduledCollective, ScheduledComputation, total
from grader.verdicts.evidence import Amount
from grader.verdicts.verdict import Trust

TITLE = "Communication hidden by computation"
TRUST: Trust = "verified"
_MAX_ROWS = 16


class Bounds(TopologyBounds):
    """Which collectives must be hidden: those in loops, of these kinds, of at least `ignore_below` bytes each.

    `at_least` is the share of the operations in a round's matrix products that must run meanwhile.
    """

    kinds: list[Kind] = Field(default=["all-gather"], min_length=1)
    at_least: float = Field(default=0.5, gt=0, le=1)
    ignore_below: int = Field(default=4096, ge=0)


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    kinds = listed(bounds.kinds, "or")
    return Wording(
        (
            f"on {listed(bounds.topology, 'and')}, at least {bounds.at_least:.0%} of a round's matrix products run "
            f"while each {kinds} of the loop is in flight",
        ),
        (
            f"each {kinds} of {bounds.ignore_below:,} bytes or more in a loop: at least {bounds.at_least:g} times the "
            "operations of the round's matrix products run between its start and its end, in the schedule of the "
            f"compiler for {listed(bounds.topology, 'and')}",
            "not checked, and counted as passed, where the compiler is not installed",
        ),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if a loop has such collectives and each is hidden, on each slice whose compiler is installed."""
    return together([_check_on(subject, bounds, topology) for topology in bounds.topology])


def _check_on(subject: Subject, bounds: Bounds, topology: str) -> Finding:
    on_chip = subject.on_chip[topology]
    where = f"On {on_chip.where}, "
    if on_chip.program is None:
        return unchecked(on_chip, "wrong_communication")
    if on_chip.program.schedule.left_out:
        text = f"the program has more than {MAX_STEPS} steps, too many to check. Use a loop."
        return rejected([Located(where, text)], "wrong_communication", [])
    found = _counted(on_chip.program, bounds)
    if not found:
        kinds = " or ".join(bounds.kinds)
        return rejected([Located(where, f"no loop of the chip's program contains {kinds}.")], "wrong_communication", [])
    rows = [_row(computation, each, bounds) for computation, each in found]
    what, shown = "Operations in each round while a collective is in flight", rows[:_MAX_ROWS]
    evidence = [amounts_on(subject, on_chip, topology, what, shown, unit="operations", whole="the whole round")]
    exposed = [
        (row, each)
        for row, (_, each) in zip(rows, found, strict=True)
        if row.mine is None or row.mine < (row.at_least or 1)
    ]
    if not exposed:
        number = "the collective in the loop is" if len(found) == 1 else f"all {len(found)} collectives in loops are"
        return Finding(True, f"{where}{number} hidden by matrix products.", None, evidence)
    return rejected([Located(where, _message(*exposed[0], bounds))], "wrong_communication", evidence)


def _counted(program: ChipFacts, bounds: Bounds) -> list[tuple[ScheduledComputation, ScheduledCollective]]:
    return [
        (computation, each)
        for computation in program.schedule.computations
        # The program itself runs once. Everything else is the body of a loop, or is called by one.
        if computation.caller and computation.executions != 1
        for each in computation.collectives
        if each.kind in bounds.kinds and each.logical_bytes >= bounds.ignore_below
    ]


def _row(computation: ScheduledComputation, each: ScheduledCollective, bounds: Bounds) -> Amount:
    whole = total(step.flops for step in computation.steps)
    line = f", line {each.line}" if each.line else ""
    return Amount(
        name=f"{each.kind}{line}",
        mine=total(step.flops for step in computation.between(each)),
        reference=None,
        whole=whole,
        at_least=None if whole is None else max(1, int(whole * bounds.at_least)),
    )


def _message(row: Amount, each: ScheduledCollective, bounds: Bounds) -> str:
    name = f"{each.kind} on line {each.line}" if each.line else each.kind
    if row.mine is None or row.whole is None:
        return (
            f"the matrix products that run during the {name} cannot be counted, because a loop runs an unknown number "
            "of times."
        )
    share = f"This problem requires {bounds.at_least:.0%} of them."
    if not row.whole:
        return f"the loop with the {name} computes no matrix product, so nothing hides it. {share}"
    if not each.asynchronous:
        return (
            f"the chip waits for the {name} and computes nothing meanwhile, so none of the round's matrix products "
            f"hide it. {share} Fetch what the next round needs, and use what the previous round fetched."
        )
    return (
        f"{row.mine / row.whole:.0%} of the operations in the round's matrix products run while the {name} is in "
        f"flight. {share}"
    )
