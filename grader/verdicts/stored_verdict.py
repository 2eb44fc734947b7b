"""Read stored verdicts of every version as the current classes.

Version 1 had no `schema_version`, and evidence was a dict whose form each check chose; the classes here
describe these forms. Evidence of any other form is dropped, because every page works without it.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from grader.core.strict_model import Closed
from grader.verdicts.evidence import (
    Amount,
    Amounts,
    Axes,
    CollectiveCall,
    Collectives,
    CollectiveSum,
    Count,
    Difference,
    Evidence,
    Factor,
    Factors,
    Facts,
    FailedCase,
    Fault,
    Frame,
    Leaf,
    Leaves,
    Mesh,
    Number,
    OnMesh,
    Tolerances,
    ToleranceUsed,
    Traffic,
    WorstElement,
)
from grader.verdicts.verdict import Verdict

Values = dict[str, bool | int | str]


def read_verdict(stored: Mapping[str, Any]) -> Verdict:
    """Read a verdict of any version from parsed JSON.

    Raises:
      ValidationError: it is not a verdict, or has a later version.
    """
    if "schema_version" in stored:
        return Verdict.model_validate(stored)
    first = _FirstVerdict.model_validate(stored)
    checks = [each.model_dump() | {"evidence": _evidence_of(each.evidence)} for each in first.checks]
    return Verdict.model_validate({**stored, "checks": checks})


class _Open(Closed):
    model_config = ConfigDict(extra="allow")


class _FirstCheck(_Open):
    evidence: dict[str, Any] = Field(default_factory=dict)


class _FirstVerdict(_Open):
    checks: list[_FirstCheck]


class _Sharding(OnMesh):
    leaves: list[Leaf]

    def now(self) -> Leaves:
        return Leaves(mesh=self.mesh, cases=self.cases, leaves=self.leaves)


class _Row(Closed):
    name: str
    mine: Count
    reference: Count
    replicated: Count | None


class _Memory(OnMesh):
    rows: list[_Row]

    def now(self) -> Amounts:
        return Amounts(
            mesh=self.mesh,
            cases=self.cases,
            title="Bytes on the fullest device",
            unit="bytes",
            whole_title="replicated",
            rows=[
                Amount(name=row.name, mine=row.mine, reference=row.reference, whole=row.replicated) for row in self.rows
            ],
        )


class _Flops(OnMesh):
    mine: Count | None
    reference: Count | None
    whole: Count | None

    def now(self) -> Amounts:
        return Amounts(
            mesh=self.mesh,
            cases=self.cases,
            title="Operations on each device",
            unit="operations",
            whole_title="undivided",
            rows=[Amount(name="matrix products", mine=self.mine, reference=self.reference, whole=self.whole)],
        )


class _Donation(OnMesh):
    donated: Count
    state: Count

    def now(self) -> Amounts:
        return Amounts(
            mesh=self.mesh,
            cases=self.cases,
            title="Donated bytes on each device",
            unit="bytes",
            whole_title="whole state",
            rows=[Amount(name="state that is donated", mine=self.donated, reference=None, whole=self.state)],
        )


class _Sum(Closed):
    kind: str
    axes: Axes | None
    group_size: Count
    in_loop: bool
    mine: Traffic | None
    reference: Traffic | None

    def now(self) -> CollectiveSum:
        return CollectiveSum(collective=self.kind, **self.model_dump(exclude={"kind"}))


class _Block(Closed):
    kind: str
    axes: Axes | None
    bytes: Count
    executions: Count | None
    in_loop: bool

    def now(self) -> CollectiveCall:
        return CollectiveCall(collective=self.kind, **self.model_dump(exclude={"kind"}))


class _Timeline(Closed):
    mine: list[_Block]
    reference: list[_Block]


class _Communication(OnMesh):
    rows: list[_Sum]
    timeline: _Timeline

    def now(self) -> Collectives:
        return Collectives(
            mesh=self.mesh,
            cases=self.cases,
            sums=[row.now() for row in self.rows],
            mine=[block.now() for block in self.timeline.mine],
            reference=[block.now() for block in self.timeline.reference],
        )


class _Scaling(OnMesh):
    factors: list[Factor]

    def now(self) -> Factors:
        return Factors(mesh=self.mesh, cases=self.cases, factors=self.factors)


class _Batch(OnMesh):
    whole_batch: dict[str, int]

    def now(self) -> Facts:
        values: Values = {**self.whole_batch}
        return Facts(mesh=self.mesh, cases=self.cases, about="rows of the whole batch", values=values)


class _ByHand(OnMesh):
    products_outside: int
    collectives_of_the_partitioner: int

    def now(self) -> Facts:
        return Facts(
            mesh=self.mesh,
            cases=self.cases,
            about="outside of shard_map",
            values={
                "products": self.products_outside,
                "collectives of the partitioner": self.collectives_of_the_partitioner,
            },
        )


class _Primitives(OnMesh):
    primitives: dict[str, int]

    def now(self) -> Facts:
        values: Values = {**self.primitives}
        return Facts(mesh=self.mesh, cases=self.cases, about="primitives of the traced step", values=values)


class _Retrace(OnMesh):
    retraced: bool

    def now(self) -> Facts:
        return Facts(mesh=self.mesh, cases=self.cases, about="second step", values={"retraced": self.retraced})


class _Case(Closed):
    id: str
    mesh: Mesh | None = None
    where: str = ""
    inputs: dict[str, str] = Field(default_factory=dict)
    expected: str | list[str] | None = None
    got: str | list[str] | None = None
    worst_index: list[Count] | None = None
    worst_expected: str | None = None
    worst_got: str | None = None
    relative_error: Number | None = None
    line: int | None = None
    column: int | None = None
    type: str | None = None
    traceback: list[Frame] | None = None
    ended_by: str | None = None

    def now(self) -> FailedCase:
        fault = self.model_dump(include={"line", "column", "type", "traceback", "ended_by"}, exclude_none=True)
        return FailedCase(
            case=self.id,
            mesh=self.mesh,
            where=self.where,
            inputs=self.inputs,
            difference=self._difference(),
            fault=Fault(**fault) if fault else None,
        )

    def _difference(self) -> Difference | None:
        if self.expected is None or self.got is None:
            return None
        worst = None
        if self.worst_index is not None and self.worst_expected is not None and self.worst_got is not None:
            worst = WorstElement(
                index=self.worst_index,
                expected=self.worst_expected,
                got=self.worst_got,
                relative_error=self.relative_error,
            )
        return Difference(expected=self.expected, got=self.got, worst=worst)


_Entry = (
    _Sharding
    | _Memory
    | _Flops
    | _Donation
    | _Communication
    | _Scaling
    | _Batch
    | _ByHand
    | _Primitives
    | _Retrace
    | _Case
)
_ENTRY: TypeAdapter[_Entry] = TypeAdapter(_Entry)
_LIST: TypeAdapter[list[Any]] = TypeAdapter(list[Any])
_TOLERANCES: TypeAdapter[dict[str, ToleranceUsed]] = TypeAdapter(dict[str, ToleranceUsed])


def _evidence_of(first: dict[str, Any]) -> list[Evidence]:
    rest = dict(first)
    found = _readable([rest.pop("tolerance")] if "tolerance" in rest else [], _tolerances)
    for name in ("cases", "meshes"):
        with suppress(ValidationError):
            found += _readable(_LIST.validate_python(rest.pop(name, [])), _entry)
    return found + _readable([rest] if rest else [], Fault.model_validate)


def _tolerances(used: Any) -> Evidence:
    return Tolerances(by_dtype=_TOLERANCES.validate_python(used))


def _entry(entry: Any) -> Evidence:
    return _ENTRY.validate_python(entry).now()


def _readable(entries: Iterable[Any], read: Callable[[Any], Evidence]) -> list[Evidence]:
    """Read entry by entry, so that one of another form does not affect the others."""
    found = []
    for entry in entries:
        with suppress(ValidationError):
            found.append(read(entry))
    return found
