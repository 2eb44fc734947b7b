"""Bounds of the check `collectives` on the program that a chip's compiler makes: bytes by kind, axes and loops.

Such a program has no record of which leaf a collective carries, so there are no rules about that.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.checks.topology import TopologyBounds, amounts_on, together, unchecked
from grader.checks.wording import expected, listed, multiple, small, within
from grader.core.text import in_bytes
from grader.package.package import CheckBounds
from grader.program.collective_uses import Kind
from grader.program.on_chip import ChipFacts
from grader.program.schedule import MAX_STEPS, ScheduledCollective, ScheduledComputation
from grader.verdicts.evidence import Amount


class ChipRule(CheckBounds):
    """Bounds on the logical bytes of some collectives, as multiples of the whole bytes of the group `of`."""

    kinds: list[Kind] = Field(min_length=1)
    axes: list[str] | None = None
    within: Literal["loops", "no loop"] | None = None
    of: str
    at_least: float | None = Field(default=None, ge=0)
    at_most: float | None = Field(default=None, ge=0)
    means: Annotated[str, Field(max_length=600)] = ""

    @model_validator(mode="after")
    def _bounds_something(self) -> Self:
        if self.at_least is None and self.at_most is None:
            raise ValueError("a rule needs at_least or at_most")
        return self

    @property
    def name(self) -> str:
        """The rule's name, such as `all-reduce over fsdp inside loops`."""
        place = {"loops": " inside loops", "no loop": " outside loops", None: ""}[self.within]
        return listed(self.kinds) + (f" over {', '.join(self.axes)}" if self.axes else "") + place


class ChipCollectives(TopologyBounds):
    """Rules on the programs for the slices.

    Collectives of less than `ignore_below` bytes do not count if all executions of those that a rule is about move less
    than that together.
    """

    rules: list[ChipRule] = Field(min_length=1)
    ignore_below: int = Field(default=64, ge=0)

    def wording(self) -> Sequence[str]:
        """The exact bounds, one sentence for each rule."""
        where = listed(self.topology)
        return (
            *(
                f"on {where}, {each.name}: {_bounds(each)}, by the compiler for the chip; not checked without it"
                for each in self.rules
            ),
            *small(self.ignore_below, f"small collectives on {where}"),
        )


def check_on_chips(subject: Subject, bounds: ChipCollectives) -> Finding:
    """Pass if every rule holds on every slice whose compiler is installed."""
    return together([_check_on(subject, bounds, topology) for topology in bounds.topology])


def _check_on(subject: Subject, bounds: ChipCollectives, topology: str) -> Finding:
    on_chip = subject.on_chip[topology]
    program = on_chip.program
    if program is None:
        return unchecked(on_chip, "wrong_communication")
    where = f"On {on_chip.where}, "
    if program.schedule.left_out:
        text = f"the program has more than {MAX_STEPS} steps, too many to check. Use a loop."
        return rejected([Located(where, text)], "wrong_communication", [])
    faults, rows = [], []
    for rule in bounds.rules:
        unit = sum(subject.bytes_of(rule.of, subject.pairs[0].reference).values())
        found = _counted(program, rule, bounds.ignore_below)
        unknown = next((each for computation, each in found if computation.executions is None), None)
        if unknown is not None:
            line = f" on line {unknown.line}" if unknown.line else ""
            text = f"the {unknown.kind}{line} runs in a loop whose trip count the compiler does not know."
            faults.append(Located(where, text))
            continue
        sure = _bytes(each for each in found if rule.axes is None or each[1].axes is not None)
        most = _bytes(found)
        at_least = None if rule.at_least is None else int(rule.at_least * unit)
        at_most = None if rule.at_most is None else int(rule.at_most * unit)
        too_little = at_least is not None and sure < at_least
        moved = sure if too_little else most
        rows.append(Amount(name=rule.name, mine=moved, reference=None, whole=unit, at_least=at_least, at_most=at_most))
        if too_little or (at_most is not None and most > at_most):
            verb = "move" if len(rule.kinds) > 1 else "moves"
            share = multiple(moved / unit) if unit else "more than"
            text = (
                f"{rule.name} {verb} {in_bytes(moved)}, {share} the bytes of {rule.of}; "
                f"expected {expected(rule.at_least, rule.at_most, multiple)}. {rule.means}"
            )
            faults.append(Located(where, text.rstrip()))
    what = "Bytes of whole tensors in collectives"
    evidence = [amounts_on(subject, on_chip, topology, what, rows, unit="bytes", whole="the group's bytes")]
    if faults:
        return rejected(faults, "wrong_communication", evidence)
    moves = ", ".join(f"{row.name} {in_bytes(row.mine or 0)}" for row in rows)
    return Finding(True, f"{where}collectives move what they should: {moves}.", None, evidence)


def _counted(
    program: ChipFacts, rule: ChipRule, ignore_below: int
) -> list[tuple[ScheduledComputation, ScheduledCollective]]:
    """The collectives that the rule counts. One whose groups do not run along axes counts for every rule with axes."""
    found = [
        (computation, each)
        for computation in program.schedule.computations
        for each in computation.collectives
        if each.kind in rule.kinds
        and (rule.axes is None or each.axes is None or set(each.axes) == set(rule.axes))
        and (rule.within is None or (computation.executions != 1) == (rule.within == "loops"))
    ]
    small_ones = [one for one in found if one[1].logical_bytes < ignore_below]
    is_known = all(computation.executions is not None for computation, _ in small_ones)
    # Small collectives are ignored only if they are also small together.
    if is_known and _bytes(small_ones) < ignore_below:
        return [one for one in found if one not in small_ones]
    return found


def _bytes(found: Iterable[tuple[ScheduledComputation, ScheduledCollective]]) -> int:
    return sum(each.logical_bytes * (computation.executions or 0) for computation, each in found)


def _bounds(rule: ChipRule) -> str:
    return "none" if rule.at_most == 0 else f"{within(rule.at_least, rule.at_most)} the bytes of `{rule.of}`"
