"""What do the devices say to each other: which collectives, over which axes, how many bytes, in loops or not?"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from grader.checks import finding
from grader.checks.finding import Finding
from grader.checks.program.subject import Pair, Subject
from grader.checks.program.table import CollectiveUse, Share, collectives_of, evidence_of
from grader.program.measured import Measured
from grader.text import in_bytes
from grader.verdict import Trust

TITLE = "What the devices say to each other"
TRUST: Trust = "verified"
_MAX_NAMED = 3
Kind = Literal[
    "all-gather",
    "all-reduce",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
    "ragged-all-to-all",
]


class Count(finding.Bounds):
    """How often, counted over loops. A string is the name of a mesh axis, with `-1` or `+7` after it: its size."""

    at_least: int | str | None = None
    at_most: int | str | None = None


class Rule(finding.Bounds):
    """Bounds on the sum of some collectives. Bytes are logical ones, as a multiple of the whole bytes of `of`.

    `of = "reference"` takes the same sum in the reference's program; with `each` every leaf of `of` is held against
    what is moved of it alone. `only_from` counts arrays whose data depends on leaves of these groups and on nothing
    else, `not_only_from` all others.
    """

    kinds: list[Kind] = Field(min_length=1)
    axes: list[str] | None = None
    only_from: list[str] | None = None
    not_only_from: list[str] | None = None
    of: str | None = None
    each: bool = False
    at_least: float | None = Field(default=None, ge=0)
    at_most: float | None = Field(default=None, ge=0)
    loops: Literal["never", "only", "any"] = "any"
    executions: Count | None = None
    means: Annotated[str, Field(max_length=600)] = ""


class Bounds(finding.Bounds):
    """Collectives of under `ignore_below` bytes, a loss or a counter, are never looked at."""

    allowed: list[Kind] | None = None
    ignore_below: int = Field(default=64, ge=0)
    rules: list[Rule] = Field(default_factory=list)


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass when only allowed kinds occur and every rule holds on every mesh. Evidence: a table and a timeline."""
    evidence = [evidence_of(subject, pair, bounds.ignore_below) for pair in subject.pairs]
    faults: list[str] = []
    for pair in subject.pairs:
        said = collectives_of(pair.mine, ignore_below=bounds.ignore_below)
        where = f"On {subject.place(pair)}"
        uncounted = [each for each in said if each.executions is None]
        for each in uncounted[:1]:
            faults.append(
                f"{where} {_name(each)} runs in a loop whose number of rounds the compiler does not know, so what "
                "it sends cannot be bounded. Use `jax.lax.scan`, or `jax.lax.fori_loop` with constant bounds."
            )
        faults += _not_allowed(where, said, bounds)
        for rule in bounds.rules:
            fault = _broken(subject, pair, rule, bounds.ignore_below)
            if fault:
                faults.append(f"{where} {fault}{' ' + rule.means if rule.means else ''}")
    if faults:
        # The same rule often breaks on every mesh: once is enough to read.
        return Finding(False, "\n".join(_once(faults)), "wrong_communication", evidence)
    return Finding(
        True,
        f"{_summary(subject.pairs[0].mine, bounds)} on {subject.place(subject.pairs[0])}.",
        None,
        evidence,
    )


def _not_allowed(where: str, said: list[CollectiveUse], bounds: Bounds) -> list[str]:
    if bounds.allowed is None:
        return []
    wrong = [each for each in said if each.kind not in bounds.allowed]
    faults = []
    for kind in dict.fromkeys(each.kind for each in wrong):
        these = [each for each in wrong if each.kind == kind]
        number = sum(each.executions or 0 for each in these)
        faults.append(
            f"{where} there {'is one' if number == 1 else f'are {number}'} {kind} of "
            f"{in_bytes(sum(each.total_bytes for each in these))}{_line(these[0])}, which this problem does not allow; "
            f"allowed: {', '.join(bounds.allowed) or 'none at all'}."
        )
    return faults


def _broken(subject: Subject, pair: Pair, rule: Rule, ignore_below: int) -> str | None:
    """What breaks the rule, as the end of a sentence that begins with the mesh; None where nothing does."""
    sure = _matching(subject, pair, rule, ignore_below)
    # Among devices that make up no axis: it does not do what the rule asks for, and is no way around what it forbids.
    perhaps = [*sure, *_matching(subject, pair, rule, ignore_below, along_axes=False)]
    if rule.loops != "any":
        wrong = [each.said for each in perhaps if each.said.in_loop != (rule.loops == "only")]
        if wrong:
            place = "inside a loop" if wrong[0].in_loop else "outside of any loop"
            wanted = "outside of loops" if rule.loops == "never" else "inside a loop"
            return f"{_name(wrong[0])} runs {place}, expected {wanted}."
    fault = _broken_bytes(subject, pair, rule, sure, perhaps, ignore_below) if rule.of is not None else None
    return fault or _broken_count(pair, rule, sure, perhaps)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A collective, and those of its arrays that a rule is about."""

    said: CollectiveUse
    shares: tuple[Share, ...]

    @property
    def total_bytes(self) -> int:
        return sum(share.logical_bytes for share in self.shares) * (self.said.executions or 0)


def _broken_bytes(
    subject: Subject, pair: Pair, rule: Rule, sure: list[_Counted], perhaps: list[_Counted], ignore_below: int
) -> str | None:
    assert rule.of is not None
    if rule.of == "reference":
        unit = sum(
            each.total_bytes for each in _matching(subject, Pair(pair.reference, pair.reference), rule, ignore_below)
        )
        units = {"what the reference sends in that way": unit}
    else:
        leaves = subject.bytes_of(rule.of, pair.reference)
        units = leaves if rule.each else {f"the bytes of {rule.of}": sum(leaves.values())}
    low, high = rule.at_least, rule.at_most
    for name, unit in units.items():
        if rule.each:
            least, most = (_bytes_of_leaf(these, name, units) for these in (sure, perhaps))
        else:
            least, most = (sum(each.total_bytes for each in these) for these in (sure, perhaps))
        total = least if low is not None and least < low * unit else most
        if (low is not None and least < low * unit) or (high is not None and most > high * unit):
            whose, bytes_of = (f" of {name}", "its bytes") if rule.each else ("", name)
            ratio = f", {total / unit:.3g} times {bytes_of} ({in_bytes(unit)})" if unit else ""
            from_where = _from_where(subject, pair, rule, perhaps) if total == most else ""
            return (
                f"{_rule_name(rule)} moves {in_bytes(total)}{whose}{ratio}{from_where}; "
                f"expected {_range(low, high, ' times')}."
            )
    return None


def _bytes_of_leaf(counted: list[_Counted], leaf: str, leaves: dict[str, int]) -> float:
    """What is moved of one leaf. An array that is made of several is theirs in proportion to their bytes."""
    total = 0.0
    for each in counted:
        for share in each.shares:
            if leaf in share.depends:
                whole = sum(size for path, size in leaves.items() if path in share.depends)
                total += share.logical_bytes * (each.said.executions or 0) * leaves[leaf] / whole
    return total


def _from_where(subject: Subject, pair: Pair, rule: Rule, counted: list[_Counted]) -> str:
    """The line of the largest one, and what its data comes from; of that only what the rule does not allow."""
    groups = rule.only_from or rule.not_only_from
    if not counted or groups is None:
        return ""
    largest = max(counted, key=lambda each: each.total_bytes)
    share = max(largest.shares, key=lambda each: each.logical_bytes)
    others = sorted(share.depends - (subject.leaves_of(groups, pair) if rule.not_only_from else frozenset()))
    more = f" and {len(others) - _MAX_NAMED} more" if len(others) > _MAX_NAMED else ""
    told = ", ".join(others[:_MAX_NAMED]) + more
    return f"{_line(largest.said)}, of data that is made from {told or 'no leaf of the state'}"


def _broken_count(pair: Pair, rule: Rule, sure: list[_Counted], perhaps: list[_Counted]) -> str | None:
    if rule.executions is None:
        return None
    low, high = (_count(bound, pair.mine.mesh) for bound in (rule.executions.at_least, rule.executions.at_most))
    least, most = (sum(each.said.executions or 0 for each in these) for these in (sure, perhaps))
    number = least if low is not None and least < low else most
    if (low is not None and least < low) or (high is not None and most > high):
        return f"{_rule_name(rule)} is executed {number} times; expected {_range(low, high, ' times')}."
    return None


def _matching(
    subject: Subject, pair: Pair, rule: Rule, ignore_below: int, *, along_axes: bool = True
) -> list[_Counted]:
    """Those along the rule's axes; or, not `along_axes`, those of its kinds along none, where it names axes."""
    found = []
    for each in collectives_of(pair.mine, ignore_below=ignore_below):
        named = rule.axes is None or (each.axes is not None and list(each.axes) == rule.axes)
        fits = named if along_axes else rule.axes is not None and each.axes is None
        if each.kind in rule.kinds and fits:
            shares = _shares_of(subject, pair, rule, each, ignore_below)
            if shares:
                found.append(_Counted(each, shares))
    return found


def _shares_of(subject: Subject, pair: Pair, rule: Rule, said: CollectiveUse, ignore_below: int) -> tuple[Share, ...]:
    """The arrays of a collective that come from where the rule says: all, where it says nothing."""
    shares = said.shares
    if rule.only_from is not None:
        leaves = subject.leaves_of(rule.only_from, pair)
        shares = tuple(share for share in shares if share.depends and share.depends <= leaves)
    if rule.not_only_from is not None:
        leaves = subject.leaves_of(rule.not_only_from, pair)
        shares = tuple(share for share in shares if not share.depends or not share.depends <= leaves)
        # A loss may travel with the parameters: XLA joins what goes the same way.
        if (
            sum(share.logical_bytes for share in shares) * (1 if said.executions is None else said.executions)
            < ignore_below
        ):
            shares = ()
    return shares


def _count(bound: int | str | None, mesh: dict[str, int]) -> int | None:
    if not isinstance(bound, str):
        return bound
    axis = bound.rstrip("0123456789").rstrip("+-")
    return mesh[axis] + int(bound[len(axis) :] or 0)


def _range(low: float | None, high: float | None, unit: str) -> str:
    if high == 0:
        return "none"
    if low is None:
        return f"at most {high:g}{unit}"
    if high is None:
        return f"at least {low:g}{unit}"
    return f"{low:g}{unit}" if low == high else f"between {low:g} and {high:g}{unit}"


def _rule_name(rule: Rule) -> str:
    return " and ".join(rule.kinds) + (f" over {', '.join(rule.axes)}" if rule.axes else "")


def _name(said: CollectiveUse) -> str:
    over = f" over {', '.join(said.axes)}" if said.axes else ""
    return f"{'an' if said.kind[0] == 'a' else 'a'} {said.kind}{over} of {in_bytes(said.logical_bytes)}{_line(said)}"


def _line(said: CollectiveUse) -> str:
    return f" (line {said.line})" if said.line else ""


def _summary(measured: Measured, bounds: Bounds) -> str:
    said = collectives_of(measured, ignore_below=bounds.ignore_below)
    totals: dict[str, int] = {}
    for each in said:
        totals[each.kind] = totals.get(each.kind, 0) + each.total_bytes
    told = ", ".join(f"{kind} {in_bytes(total)}" for kind, total in totals.items())
    return told[:1].upper() + told[1:] if told else "No collective of more than a few bytes"


def _once(faults: list[str]) -> list[str]:
    """Without those that say the same of another mesh."""
    seen: dict[Any, str] = {}
    for fault in faults:
        seen.setdefault(fault.rpartition("; expected")[2] if "; expected" in fault else fault, fault)
    return list(seen.values())
