"""What a rule of the check `collectives` counts, and the numbers that it bounds."""

from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from grader.checks import finding
from grader.checks.program.subject import Pair, Subject
from grader.checks.program.table import CollectiveUse, Kind, Share, collectives_of


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


@dataclass(frozen=True, slots=True)
class Part:
    """A collective, and those of its arrays that a rule counts."""

    use: CollectiveUse
    shares: tuple[Share, ...]

    @property
    def total_bytes(self) -> int:
        return _whole_of(self.shares) * (self.use.executions or 0)


@dataclass(frozen=True, slots=True)
class Counted:
    """What a rule counts. A collective whose groups form no axis counts towards every upper bound, so it is in
    `perhaps`, and towards no lower bound, so it is not in `sure`."""

    rule: Rule
    sure: list[Part]
    perhaps: list[Part]


def count_by(subject: Subject, pair: Pair, rule: Rule, ignore_below: int) -> Counted:
    sure = matching(subject, pair, rule, ignore_below)
    return Counted(rule, sure, [*sure, *matching(subject, pair, rule, ignore_below, along_axes=False)])


@dataclass(frozen=True, slots=True)
class BoundedAmount:
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


def amounts_of(subject: Subject, pair: Pair, counted: Counted, ignore_below: int) -> list[BoundedAmount]:
    """The bytes that a rule bounds, none if it is not about bytes."""
    rule = counted.rule
    if rule.of is None:
        return []
    if rule.of == "reference":
        unit = bytes_in_reference(subject, pair, rule, ignore_below)
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
        found.append(BoundedAmount(name, unit, least, most, low, high))
    return found


def bytes_in_reference(subject: Subject, pair: Pair, rule: Rule, ignore_below: int) -> int:
    these = matching(subject, Pair(pair.reference, pair.reference), rule, ignore_below)
    return sum(each.total_bytes for each in these)


@dataclass(frozen=True, slots=True)
class Execution:
    """What one execution of a collective moves of a leaf, or of all of `of` without `each`."""

    use: CollectiveUse
    name: str
    moved: float
    unit: int


def largest_execution(counted: Counted, amounts: list[BoundedAmount]) -> Execution | None:
    """The one that moves the largest part of its unit; None if the rule does not bound it or counts nothing."""
    rule = counted.rule
    if rule.at_once is None:
        return None
    units = {each.name: each.unit for each in amounts}
    found = [
        Execution(part.use, name, _at_once(part, name, units) if rule.each else _whole_of(part.shares), units[name])
        for part in counted.perhaps
        for name in units
    ]
    # The reference may send nothing this way: then everything is more than its multiple.
    return max(found, key=lambda each: each.moved / max(each.unit, 1), default=None)


def _whole_of(shares: tuple[Share, ...]) -> int:
    return sum(share.logical_bytes for share in shares)


def _bytes_of_leaf(counted: list[Part], leaf: str, leaves: dict[str, int]) -> float:
    """Bytes moved for one leaf. An array computed from several leaves counts for each in proportion to its bytes."""
    return sum(_at_once(each, leaf, leaves) * (each.use.executions or 0) for each in counted)


def _at_once(part: Part, leaf: str, leaves: dict[str, int]) -> float:
    """The same for one execution."""
    total = 0.0
    for share in part.shares:
        if leaf in share.depends:
            whole = sum(size for path, size in leaves.items() if path in share.depends)
            total += share.logical_bytes * leaves[leaf] / whole
    return total


def executions_of(pair: Pair, counted: Counted) -> BoundedAmount | None:
    """None if the rule does not bound them."""
    bounds = counted.rule.executions
    if bounds is None:
        return None
    low, high = (_count(bound, pair.mine.mesh) for bound in (bounds.at_least, bounds.at_most))
    least, most = (sum(each.use.executions or 0 for each in these) for these in (counted.sure, counted.perhaps))
    return BoundedAmount("", 1, least, most, low, high)


def matching(subject: Subject, pair: Pair, rule: Rule, ignore_below: int, *, along_axes: bool = True) -> list[Part]:
    """Collectives along the rule's axes or, without `along_axes`, those along no axis if the rule names axes."""
    found = []
    for each in collectives_of(pair.mine, ignore_below=ignore_below):
        named = rule.axes is None or (each.axes is not None and list(each.axes) == rule.axes)
        fits = named if along_axes else rule.axes is not None and each.axes is None
        if each.kind in rule.kinds and fits:
            shares = _shares_of(subject, pair, rule, each, ignore_below)
            if shares:
                found.append(Part(each, shares))
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
