"""Rules of the check `collectives`: what they count, and the numbers that they bound."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from grader.checks.program_subject import Pair, Subject
from grader.package.package import CheckBounds
from grader.program.collective_uses import CollectiveUse, Kind, Share, collectives_of


class Count(CheckBounds):
    """Bounds on executions, over all rounds of loops. A string is the size of a mesh axis, plus or minus a number."""

    at_least: int | str | None = None
    at_most: int | str | None = None


class Rule(CheckBounds):
    """Bounds on the sum of some collectives: logical bytes, as a multiple of the whole bytes of `of`.

    `of = "reference"` uses the same sum in the reference's program. With `each`, the bounds apply to each leaf of `of`
    (of `into` or `only_from`, if `of` is the reference) and to the bytes sent for it. `at_once` bounds one execution in
    the same unit, so that a problem can ask for one layer at a time. `only_from` counts arrays whose data depends only
    on leaves of these groups, and `not_only_from` all other arrays. `into` counts arrays, however small, whose elements
    arrive one by one in returned leaves of these groups, as a gradient's do, and `not_into` all other arrays.
    `not_only_from` and `not_into` ignore less than `ignore_below` bytes in all. `within` counts only collectives
    inside loops, or only those outside; `loops` says where everything that is counted must be.
    """

    kinds: list[Kind] = Field(min_length=1)
    axes: list[str] | None = None
    only_from: list[str] | None = None
    not_only_from: list[str] | None = None
    into: list[str] | None = None
    not_into: list[str] | None = None
    of: str | None = None
    each: bool = False
    at_least: float | None = Field(default=None, ge=0)
    at_most: float | None = Field(default=None, ge=0)
    at_once: float | None = Field(default=None, gt=0)
    within: Literal["loops", "no loop"] | None = None
    loops: Literal["never", "only", "any"] = "any"
    executions: Count | None = None
    means: Annotated[str, Field(max_length=600)] = ""

    @model_validator(mode="after")
    def _bounds_have_a_unit(self) -> Self:
        if self.at_once is not None and self.of is None:
            raise ValueError("at_once needs `of`, which says what it is a multiple of")
        if self.each and self.of == "reference" and not (self.into or self.only_from):
            raise ValueError('each with of = "reference" needs into or only_from, which name the leaves')
        return self

    @property
    def counts_others(self) -> bool:
        """Whether the rule counts arrays that do not come from the right leaves, or do not arrive in them."""
        return self.not_only_from is not None or self.not_into is not None


@dataclass(frozen=True, slots=True)
class CountedPart:
    """A collective, and its arrays that a rule counts."""

    use: CollectiveUse
    shares: tuple[Share, ...]

    @property
    def total_bytes(self) -> int:
        return _whole_of(self.shares) * (self.use.executions or 0)


@dataclass(frozen=True, slots=True)
class Counted:
    """What a rule counts. A collective whose groups do not form axes counts towards upper bounds (`perhaps`), but not
    towards lower bounds (`sure`)."""

    rule: Rule
    sure: list[CountedPart]
    perhaps: list[CountedPart]


def count_by(subject: Subject, pair: Pair, rule: Rule, ignore_below: int) -> Counted:
    sure = _matching(subject, pair, rule, ignore_below)
    perhaps = [*sure, *_matching(subject, pair, rule, ignore_below, along_axes=False)]
    if rule.counts_others:
        # A loss may travel with the parameters, because XLA merges collectives over the same groups.
        sizes = [(_whole_of(each.shares), each.use.executions) for each in perhaps]
        # An unknown number of executions is at least one.
        if sum(size * (1 if times is None else times) for size, times in sizes) < ignore_below:
            return Counted(rule, [], [])
    return Counted(rule, sure, perhaps)


@dataclass(frozen=True, slots=True)
class BoundedAmount:
    """A number that a rule bounds, and the bounds. Bytes are multiples of `unit`, the bytes of `name`.

    Exceeding the upper bound by up to `ignored` bytes does not break it.
    """

    name: str
    unit: int
    least: float
    most: float
    low: float | None
    high: float | None
    ignored: float = 0

    @property
    def is_broken(self) -> bool:
        return self._is_too_little or self.excess > self.ignored

    @property
    def excess(self) -> float:
        return 0 if self.high is None else max(0, self.most - self.high)

    @property
    def _is_too_little(self) -> bool:
        return self.low is not None and self.least < self.low

    @property
    def number(self) -> float:
        """`least` if that is too little, otherwise `most`."""
        return self.least if self._is_too_little else self.most


def amounts_of(subject: Subject, pair: Pair, counted: Counted, ignore_below: int) -> list[BoundedAmount]:
    """The bytes that a rule bounds; empty if it is not about bytes.

    An excess of less than `ignore_below` bytes over all leaves' upper bounds together is ignored, such as the padding
    of gradients that are sent as one vector.
    """
    rule = counted.rule
    if rule.of is None:
        return []
    found = []
    units = _units(subject, pair, rule, rule.of, ignore_below)
    weights = _weights(subject, pair, rule, rule.of) if rule.each else {}
    for name, unit in units.items():
        least, most = (
            _bytes_of_leaf(rule, these, name, weights) if rule.each else sum(each.total_bytes for each in these)
            for these in (counted.sure, counted.perhaps)
        )
        low, high = (None if bound is None else bound * unit for bound in (rule.at_least, rule.at_most))
        found.append(BoundedAmount(name, unit, least, most, low, high))
    excess = sum(each.excess for each in found)
    return [replace(each, ignored=excess) for each in found] if excess < ignore_below else found


def _units(subject: Subject, pair: Pair, rule: Rule, of: str, ignore_below: int) -> dict[str, int]:
    """Return the units of the bounds by name: with `each`, the bytes of each leaf; otherwise one sum."""
    if of != "reference":
        leaves = subject.bytes_of(of, pair.reference)
        return leaves if rule.each else {f"the bytes of {of}": sum(leaves.values())}
    if not rule.each:
        return {"what the reference sends this way": bytes_in_reference(subject, pair, rule, ignore_below)}
    these, weights = in_reference(subject, pair, rule, ignore_below), _weights(subject, pair, rule, of)
    return {leaf: round(_bytes_of_leaf(rule, these, leaf, weights)) for leaf in weights}


def _weights(subject: Subject, pair: Pair, rule: Rule, of: str) -> dict[str, int]:
    """Return the bytes of each leaf, in proportion to which an array for several leaves is divided among them."""
    groups = (rule.into or rule.only_from or []) if of == "reference" else [of]
    return {leaf: size for group in groups for leaf, size in subject.bytes_of(group, pair.reference).items()}


def bytes_in_reference(subject: Subject, pair: Pair, rule: Rule, ignore_below: int) -> int:
    return sum(each.total_bytes for each in in_reference(subject, pair, rule, ignore_below))


def in_reference(subject: Subject, pair: Pair, rule: Rule, ignore_below: int) -> list[CountedPart]:
    """Return the collectives that the rule counts in the reference's program."""
    return count_by(subject, Pair(pair.reference, pair.reference), rule, ignore_below).sure


@dataclass(frozen=True, slots=True)
class Execution:
    """How much one execution of a collective moves of a leaf or, without `each`, of everything counted."""

    use: CollectiveUse
    name: str
    moved: float
    unit: int


def largest_execution(counted: Counted, amounts: list[BoundedAmount]) -> Execution | None:
    """The execution that moves the largest part of its unit; None if the rule has no `at_once` or counts nothing."""
    rule = counted.rule
    if rule.at_once is None:
        return None
    units = {each.name: each.unit for each in amounts}
    found = [
        Execution(
            part.use, name, _at_once(rule, part, name, units) if rule.each else _whole_of(part.shares), units[name]
        )
        for part in counted.perhaps
        for name in units
    ]
    # If the reference sends nothing this way, everything exceeds its multiple.
    return max(found, key=lambda each: each.moved / max(each.unit, 1), default=None)


def _whole_of(shares: tuple[Share, ...]) -> int:
    return sum(share.logical_bytes for share in shares)


def _bytes_of_leaf(rule: Rule, counted: list[CountedPart], leaf: str, leaves: dict[str, int]) -> float:
    """The bytes sent for one leaf. An array for several leaves counts for each in proportion to the leaf's bytes."""
    return sum(_at_once(rule, each, leaf, leaves) * (each.use.executions or 0) for each in counted)


def _at_once(rule: Rule, part: CountedPart, leaf: str, leaves: dict[str, int]) -> float:
    """The bytes that one execution sends for one leaf."""
    total = 0.0
    for share in part.shares:
        named = share.depends if rule.into is None else share.outputs
        if leaf in named:
            whole = sum(size for path, size in leaves.items() if path in named)
            total += share.logical_bytes * leaves[leaf] / whole
    return total


def executions_of(pair: Pair, counted: Counted) -> BoundedAmount | None:
    """How often the rule's collectives run, with its bounds; None if it has none."""
    bounds = counted.rule.executions
    if bounds is None:
        return None
    low, high = (_count(bound, pair.mine.mesh) for bound in (bounds.at_least, bounds.at_most))
    least, most = (sum(each.use.executions or 0 for each in these) for these in (counted.sure, counted.perhaps))
    return BoundedAmount("", 1, least, most, low, high)


def _matching(
    subject: Subject, pair: Pair, rule: Rule, ignore_below: int, *, along_axes: bool = True
) -> list[CountedPart]:
    """The collectives along the rule's axes. Without `along_axes`, those along no axes, if the rule names axes."""
    found = []
    everything = rule.counts_others or rule.into is not None
    for each in collectives_of(pair.mine, ignore_below=0 if everything else ignore_below):
        named = rule.axes is None or (each.axes is not None and list(each.axes) == rule.axes)
        fits = named if along_axes else rule.axes is not None and each.axes is None
        there = rule.within is None or each.in_loop == (rule.within == "loops")
        if each.kind in rule.kinds and fits and there:
            shares = _shares_of(subject, pair, rule, each)
            if shares:
                found.append(CountedPart(each, shares))
    return found


def _shares_of(subject: Subject, pair: Pair, rule: Rule, use: CollectiveUse) -> tuple[Share, ...]:
    """The arrays of a collective that come from, or arrive in, the rule's groups; all of them if it names none."""
    shares = use.shares
    if rule.only_from is not None:
        leaves = subject.leaves_of(rule.only_from, pair)
        shares = tuple(share for share in shares if share.depends and share.depends <= leaves)
    if rule.not_only_from is not None:
        leaves = subject.leaves_of(rule.not_only_from, pair)
        shares = tuple(share for share in shares if not share.depends or not share.depends <= leaves)
    if rule.into is not None:
        leaves = subject.outputs_of(rule.into, pair)
        shares = tuple(share for share in shares if share.outputs & leaves)
    if rule.not_into is not None:
        leaves = subject.outputs_of(rule.not_into, pair)
        shares = tuple(share for share in shares if not share.outputs & leaves)
    return shares


def _count(bound: int | str | None, mesh: dict[str, int]) -> int | None:
    if not isinstance(bound, str):
        return bound
    axis = bound.rstrip("0123456789").rstrip("+-")
    return mesh[axis] + int(bound[len(axis) :] or 0)
