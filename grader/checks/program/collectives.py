"""Communication between devices: which collectives, over which axes, how many bytes, inside or outside loops?"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from grader.checks import finding
from grader.checks.finding import Finding
from grader.checks.program.subject import Pair, Subject
from grader.checks.program.table import CollectiveUse, Kind, Share, collectives_of, evidence_of
from grader.evidence import Limit
from grader.program.measured import Measured
from grader.text import in_bytes
from grader.verdict import Trust

TITLE = "Communication between devices"
TRUST: Trust = "verified"
_MAX_NAMED = 3


class Count(finding.Bounds):
    """Bounds on executions, over all rounds of loops. A string is the size of a mesh axis, plus or minus a number."""

    at_least: int | str | None = None
    at_most: int | str | None = None


class Rule(finding.Bounds):
    """Bounds on the sum of some collectives: logical bytes, as a multiple of the whole bytes of `of`.

    `of = "reference"` takes the same sum in the reference's program. With `each`, every leaf of `of` is compared with
    the bytes that depend on it alone. `at_once` bounds a single execution in the same unit, so that a problem can
    ask for one layer at a time. `only_from` counts arrays whose data depends on leaves of these groups and on nothing
    else, `not_only_from` all other arrays.
    """

    kinds: list[Kind] = Field(min_length=1)
    axes: list[str] | None = None
    only_from: list[str] | None = None
    not_only_from: list[str] | None = None
    of: str | None = None
    each: bool = False
    at_least: float | None = Field(default=None, ge=0)
    at_most: float | None = Field(default=None, ge=0)
    at_once: float | None = Field(default=None, gt=0)
    loops: Literal["never", "only", "any"] = "any"
    executions: Count | None = None
    means: Annotated[str, Field(max_length=600)] = ""

    @model_validator(mode="after")
    def _at_once_is_a_multiple_of_something(self) -> Self:
        if self.at_once is not None and self.of is None:
            raise ValueError("at_once needs of, which names what it is a multiple of")
        return self


class Bounds(finding.Bounds):
    """Collectives that move less than `ignore_below` bytes, such as a loss or a counter, are ignored."""

    allowed: list[Kind] | None = None
    ignore_below: int = Field(default=64, ge=0)
    rules: list[Rule] = Field(default_factory=list)


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if only allowed kinds occur and every rule holds on every mesh. Evidence: a table, a timeline and limits."""
    evidence = []
    faults: list[str] = []
    for pair in subject.pairs:
        uses = collectives_of(pair.mine, ignore_below=bounds.ignore_below)
        where = f"On {subject.place(pair)},"
        uncounted = [each for each in uses if each.executions is None]
        for each in uncounted[:1]:
            faults.append(
                f"{where} {_name(each)} runs in a loop whose trip count the compiler does not know, so the bytes that "
                "it sends cannot be bounded. Use `jax.lax.scan`, or `jax.lax.fori_loop` with constant bounds."
            )
        faults += _not_allowed(where, uses, bounds)
        limits: list[Limit] = []
        for rule in bounds.rules:
            counted = _counted(subject, pair, rule, bounds.ignore_below)
            limits += _limits_of(subject, pair, counted, bounds.ignore_below)
            fault = _broken(subject, pair, counted, bounds.ignore_below)
            if fault:
                faults.append(f"{where} {fault}{' ' + rule.means if rule.means else ''}")
        evidence.append(evidence_of(subject, pair, bounds.ignore_below, limits))
    if faults:
        # The same rule often breaks on every mesh. One message is enough.
        return Finding(False, "\n".join(_once(faults)), "wrong_communication", evidence)
    first = subject.pairs[0]
    return Finding(True, f"On {subject.place(first)}: {_summary(first.mine, bounds)}.", None, evidence)


def _not_allowed(where: str, uses: list[CollectiveUse], bounds: Bounds) -> list[str]:
    if bounds.allowed is None:
        return []
    wrong = [each for each in uses if each.kind not in bounds.allowed]
    faults = []
    for kind in dict.fromkeys(each.kind for each in wrong):
        these = [each for each in wrong if each.kind == kind]
        faults.append(
            f"{where} the step runs {_quantity(kind, these)}{_line(these[0])}, which this problem does not allow. "
            f"Allowed: {', '.join(bounds.allowed) or 'no collective'}."
        )
    return faults


def _quantity(kind: str, uses: list[CollectiveUse]) -> str:
    """`one all-gather of 32 KiB` or `3 all-gathers of 96 KiB in total`; without a number where none is known."""
    number = sum(each.executions or 0 for each in uses)
    if any(each.executions is None for each in uses):
        return f"{kind} in a loop"
    total = in_bytes(sum(each.total_bytes for each in uses))
    return f"one {kind} of {total}" if number == 1 else f"{number} {kind}s of {total} in total"


@dataclass(frozen=True, slots=True)
class _Part:
    """A collective, and those of its arrays that a rule counts."""

    use: CollectiveUse
    shares: tuple[Share, ...]

    @property
    def total_bytes(self) -> int:
        return _whole_of(self.shares) * (self.use.executions or 0)


@dataclass(frozen=True, slots=True)
class _Counted:
    """What a rule counts. A collective whose groups form no axis counts towards every upper bound, so it is in
    `perhaps`, and towards no lower bound, so it is not in `sure`."""

    rule: Rule
    sure: list[_Part]
    perhaps: list[_Part]


def _counted(subject: Subject, pair: Pair, rule: Rule, ignore_below: int) -> _Counted:
    sure = _matching(subject, pair, rule, ignore_below)
    return _Counted(rule, sure, [*sure, *_matching(subject, pair, rule, ignore_below, along_axes=False)])


def _broken(subject: Subject, pair: Pair, counted: _Counted, ignore_below: int) -> str | None:
    """Describe what breaks the rule, as the end of a sentence that begins with the mesh; None if nothing does."""
    rule = counted.rule
    if rule.loops != "any":
        wrong = [each.use for each in counted.perhaps if each.use.in_loop != (rule.loops == "only")]
        if wrong:
            place = "inside a loop, but must run outside" if wrong[0].in_loop else "outside a loop, but must run inside"
            return f"{_name(wrong[0])} runs {place}."
    amounts = _amounts(subject, pair, counted, ignore_below)
    for each in amounts:
        if each.is_broken:
            return _describe(subject, pair, counted, each)
    too_much = _too_much_at_once(rule, _largest_execution(counted, amounts))
    if too_much:
        return too_much
    times = _executions(pair, counted)
    if times is not None and times.is_broken:
        runs = f"runs {_times(times.number)}" if times.number else "never runs"
        return f"{_rule_name(rule)} {runs}; expected {_range(times.low, times.high, _times)}."
    return None


@dataclass(frozen=True, slots=True)
class _Amount:
    """A number that a rule bounds, with its bounds. Bytes are compared with `unit`, those of `name`."""

    name: str
    unit: int
    least: float
    most: float
    low: float | None
    high: float | None

    @property
    def is_broken(self) -> bool:
        return self._is_too_little or (self.high is not None and self.most > self.high)

    @property
    def _is_too_little(self) -> bool:
        return self.low is not None and self.least < self.low

    @property
    def number(self) -> float:
        """The one that is out of bounds, if one is."""
        return self.least if self._is_too_little else self.most


def _amounts(subject: Subject, pair: Pair, counted: _Counted, ignore_below: int) -> list[_Amount]:
    """The bytes that a rule bounds, none if it is not about bytes."""
    rule = counted.rule
    if rule.of is None:
        return []
    if rule.of == "reference":
        unit = _in_reference(subject, pair, rule, ignore_below)
        units = {"what the reference sends this way": unit}
    else:
        leaves = subject.bytes_of(rule.of, pair.reference)
        units = leaves if rule.each else {f"the bytes of {rule.of}": sum(leaves.values())}
    found = []
    for name, unit in units.items():
        least, most = (
            _bytes_of_leaf(these, name, units) if rule.each else sum(each.total_bytes for each in these)
            for these in (counted.sure, counted.perhaps)
        )
        low, high = (None if bound is None else bound * unit for bound in (rule.at_least, rule.at_most))
        found.append(_Amount(name, unit, least, most, low, high))
    return found


def _in_reference(subject: Subject, pair: Pair, rule: Rule, ignore_below: int) -> int:
    these = _matching(subject, Pair(pair.reference, pair.reference), rule, ignore_below)
    return sum(each.total_bytes for each in these)


def _describe(subject: Subject, pair: Pair, counted: _Counted, amount: _Amount) -> str:
    rule, total, unit = counted.rule, amount.number, amount.unit
    whose, bytes_of = (f" of {amount.name}", "its bytes") if rule.each else ("", amount.name)
    expected = _range(rule.at_least, rule.at_most, _multiple)
    if not total:
        return f"{_rule_name(rule)} moves nothing{whose}; expected {expected} {bytes_of} ({in_bytes(unit)})."
    ratio = f", {total / unit:.3g}x {bytes_of} ({in_bytes(unit)})" if unit else ""
    line, leaves_from = _source_of(subject, pair, rule, counted.perhaps) if total == amount.most else ("", "")
    return f"{_rule_name(rule)}{line} moves {in_bytes(total)}{whose}{ratio}{leaves_from}; expected {expected}."


@dataclass(frozen=True, slots=True)
class _Execution:
    """What one execution of a collective moves of a leaf, or of all of `of` without `each`."""

    use: CollectiveUse
    name: str
    moved: float
    unit: int


def _largest_execution(counted: _Counted, amounts: list[_Amount]) -> _Execution | None:
    """The one that moves the largest part of its unit; None if the rule does not bound it or counts nothing."""
    rule = counted.rule
    if rule.at_once is None:
        return None
    units = {each.name: each.unit for each in amounts}
    found = [
        _Execution(part.use, name, _at_once(part, name, units) if rule.each else _whole_of(part.shares), units[name])
        for part in counted.perhaps
        for name in units
    ]
    # The reference may send nothing this way: then everything is more than its multiple.
    return max(found, key=lambda each: each.moved / max(each.unit, 1), default=None)


def _too_much_at_once(rule: Rule, largest: _Execution | None) -> str | None:
    if largest is None or rule.at_once is None or largest.moved <= rule.at_once * largest.unit:
        return None
    whose, bytes_of = (f" of {largest.name}", "its bytes") if rule.each else ("", largest.name)
    ratio = f", {largest.moved / largest.unit:.3g}x {bytes_of} ({in_bytes(largest.unit)})" if largest.unit else ""
    return (
        f"{_rule_name(rule)}{_line(largest.use)} moves {in_bytes(largest.moved)}{whose} in one execution{ratio}; "
        f"expected at most {_multiple(rule.at_once)}."
    )


def _whole_of(shares: tuple[Share, ...]) -> int:
    return sum(share.logical_bytes for share in shares)


def _limits_of(subject: Subject, pair: Pair, counted: _Counted, ignore_below: int) -> list[Limit]:
    """A rule about single leaves has the limit of one: of the leaf that is out of bounds, or moves most."""
    rule, limits = counted.rule, []
    amounts = sorted(_amounts(subject, pair, counted, ignore_below), key=lambda each: (each.is_broken, each.most))
    for each in amounts[-1:]:
        limits.append(
            Limit(
                name=f"{_limit_name(rule)}, {each.name}" if rule.each else _limit_name(rule),
                unit="bytes",
                mine=round(each.number),
                reference=None if rule.each else _in_reference(subject, pair, rule, ignore_below),
                at_least=None if each.low is None else math.ceil(each.low),
                at_most=None if each.high is None else math.floor(each.high),
            )
        )
    largest = _largest_execution(counted, amounts)
    if largest is not None and rule.at_once is not None:
        limits.append(
            Limit(
                name=f"{_limit_name(rule)}, {largest.name + ', ' if rule.each else ''}in one execution",
                unit="bytes",
                mine=round(largest.moved),
                reference=None,
                at_least=None,
                at_most=math.floor(rule.at_once * largest.unit),
            )
        )
    times = _executions(pair, counted)
    if times is not None:
        reference = _matching(subject, Pair(pair.reference, pair.reference), rule, ignore_below)
        limits.append(
            Limit(
                name=_limit_name(rule),
                unit="executions",
                mine=round(times.number),
                reference=sum(each.use.executions or 0 for each in reference),
                at_least=None if times.low is None else round(times.low),
                at_most=None if times.high is None else round(times.high),
            )
        )
    return limits


def _bytes_of_leaf(counted: list[_Part], leaf: str, leaves: dict[str, int]) -> float:
    """Bytes moved for one leaf. An array computed from several leaves counts for each in proportion to its bytes."""
    return sum(_at_once(each, leaf, leaves) * (each.use.executions or 0) for each in counted)


def _at_once(part: _Part, leaf: str, leaves: dict[str, int]) -> float:
    """The same for one execution."""
    total = 0.0
    for share in part.shares:
        if leaf in share.depends:
            whole = sum(size for path, size in leaves.items() if path in share.depends)
            total += share.logical_bytes * leaves[leaf] / whole
    return total


def _source_of(subject: Subject, pair: Pair, rule: Rule, counted: list[_Part]) -> tuple[str, str]:
    """The line of the largest collective, and the leaves that its data comes from but should not."""
    groups = rule.only_from or rule.not_only_from
    if not counted or groups is None:
        return "", ""
    largest = max(counted, key=lambda each: each.total_bytes)
    share = max(largest.shares, key=lambda each: each.logical_bytes)
    others = sorted(share.depends - (subject.leaves_of(groups, pair) if rule.not_only_from else frozenset()))
    more = f" and {len(others) - _MAX_NAMED} more" if len(others) > _MAX_NAMED else ""
    names = ", ".join(others[:_MAX_NAMED]) + more
    return _line(largest.use), f", computed from {names or 'no leaf of the state'}"


def _executions(pair: Pair, counted: _Counted) -> _Amount | None:
    """None if the rule does not bound them."""
    bounds = counted.rule.executions
    if bounds is None:
        return None
    low, high = (_count(bound, pair.mine.mesh) for bound in (bounds.at_least, bounds.at_most))
    least, most = (sum(each.use.executions or 0 for each in these) for these in (counted.sure, counted.perhaps))
    return _Amount("", 1, least, most, low, high)


def _matching(subject: Subject, pair: Pair, rule: Rule, ignore_below: int, *, along_axes: bool = True) -> list[_Part]:
    """Collectives along the rule's axes or, without `along_axes`, those along no axis if the rule names axes."""
    found = []
    for each in collectives_of(pair.mine, ignore_below=ignore_below):
        named = rule.axes is None or (each.axes is not None and list(each.axes) == rule.axes)
        fits = named if along_axes else rule.axes is not None and each.axes is None
        if each.kind in rule.kinds and fits:
            shares = _shares_of(subject, pair, rule, each, ignore_below)
            if shares:
                found.append(_Part(each, shares))
    return found


def _shares_of(subject: Subject, pair: Pair, rule: Rule, use: CollectiveUse, ignore_below: int) -> tuple[Share, ...]:
    """The arrays of a collective that come from the rule's groups; all of them if it names none."""
    shares = use.shares
    if rule.only_from is not None:
        leaves = subject.leaves_of(rule.only_from, pair)
        shares = tuple(share for share in shares if share.depends and share.depends <= leaves)
    if rule.not_only_from is not None:
        leaves = subject.leaves_of(rule.not_only_from, pair)
        shares = tuple(share for share in shares if not share.depends or not share.depends <= leaves)
        # A loss may travel with the parameters: XLA merges collectives over the same groups.
        executions = 1 if use.executions is None else use.executions
        if sum(share.logical_bytes for share in shares) * executions < ignore_below:
            shares = ()
    return shares


def _count(bound: int | str | None, mesh: dict[str, int]) -> int | None:
    if not isinstance(bound, str):
        return bound
    axis = bound.rstrip("0123456789").rstrip("+-")
    return mesh[axis] + int(bound[len(axis) :] or 0)


def _range(low: float | None, high: float | None, words: Callable[[float], str]) -> str:
    if high == 0:
        return "none"
    if high is None:
        return f"at least {words(low or 0)}"
    if low is None:
        return f"at most {words(high)}"
    return words(low) if low == high else f"between {words(low)} and {words(high)}"


def _multiple(number: float) -> str:
    return f"{number:g}x"


def _times(number: float) -> str:
    return {1: "once", 2: "twice"}.get(int(number), f"{number:g} times")


def _rule_name(rule: Rule) -> str:
    return " and ".join(rule.kinds) + (f" over {', '.join(rule.axes)}" if rule.axes else "")


def _limit_name(rule: Rule) -> str:
    """Rules about the same collectives differ in whose data they count."""
    if rule.only_from is not None:
        return f"{_rule_name(rule)} from {', '.join(rule.only_from)}"
    return f"{_rule_name(rule)}{'' if rule.not_only_from is None else ' from other data'}"


def _name(use: CollectiveUse) -> str:
    over = f" over {', '.join(use.axes)}" if use.axes else ""
    return f"{'an' if use.kind[0] == 'a' else 'a'} {use.kind}{over} of {in_bytes(use.logical_bytes)}{_line(use)}"


def _line(use: CollectiveUse) -> str:
    return f" (line {use.line})" if use.line else ""


def _summary(measured: Measured, bounds: Bounds) -> str:
    totals: dict[str, int] = {}
    for each in collectives_of(measured, ignore_below=bounds.ignore_below):
        totals[each.kind] = totals.get(each.kind, 0) + each.total_bytes
    kinds = [f"{kind} {in_bytes(total)}" for kind, total in totals.items()]
    return ", ".join(kinds) or "no collective of more than a few bytes"


def _once(faults: list[str]) -> list[str]:
    """Drop messages that repeat another one for a further mesh."""
    seen: dict[Any, str] = {}
    for fault in faults:
        seen.setdefault(fault.rpartition("; expected")[2] if "; expected" in fault else fault, fault)
    return list(seen.values())
