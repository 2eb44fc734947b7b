"""Describe how two compiled programs differ, in one sentence per difference, the costliest communication first."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from grader.core.text import in_bytes
from grader.program.collective_uses import CollectiveUse, collectives_of
from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured

_MAX_NAMED = 3
Kind = Literal["collectives", "leaves", "memory", "work", "donation", "recompilation"]


@dataclass(frozen=True, slots=True)
class ProgramDifference:
    """One difference. `line` is the first program's line that causes it; None if unknown or in the other program."""

    kind: Kind
    text: str
    line: int | None = None


def differences(mine: Measured, other: Measured) -> tuple[ProgramDifference, ...]:
    """Say how `mine` differs from `other`: communication, then leaves, memory, matrix products, donation,
    recompilation.

    If the programs are for different meshes, leaves are compared by their specs, otherwise by what each device holds.
    """
    return (
        *_of_collectives(mine, other),
        *_of_leaves(mine, other),
        *_of_memory(mine, other),
        *_of_work(mine, other),
        *_of_donation(mine, other),
        *_of_recompilation(mine, other),
    )


@dataclass(frozen=True, slots=True)
class _Exchange:
    """All collectives of one kind over the same axes. Bytes are None if some run an unknown number of times."""

    name: str
    executions: int | None
    logical_bytes: int | None
    ring_bytes: int
    line: int | None

    @property
    def amount(self) -> str:
        return "an unknown number of bytes" if self.logical_bytes is None else in_bytes(self.logical_bytes)

    def beside(self, other: "_Exchange") -> str:
        """The amount, exact if the rounded amounts would look equal."""
        if self.logical_bytes is None or other.logical_bytes is None:
            return self.amount
        return _in_bytes(self.logical_bytes, other.logical_bytes)[0]


def _of_collectives(mine: Measured, other: Measured) -> list[ProgramDifference]:
    ours, theirs = _exchanges(mine), _exchanges(other)
    found = []
    for key in [*ours, *(key for key in theirs if key not in ours)]:
        this, that = ours.get(key), theirs.get(key)
        text = _exchange_text(this, that)
        if text:
            weight = abs((this.ring_bytes if this else 0) - (that.ring_bytes if that else 0))
            found.append((weight, ProgramDifference("collectives", text, this.line if this else None)))
    # Sorting is stable: ties stay in program order.
    return [each for _, each in sorted(found, key=lambda pair: -pair[0])]


def _exchange_text(this: _Exchange | None, that: _Exchange | None) -> str:
    """Describe how two exchanges differ; empty if they do not."""
    if this is None:
        return f"No {that.name}; the other moves {that.amount}{_its_line(that)}." if that else ""
    if that is None:
        return f"{this.name} moves {this.amount}{_line(this)}; the other has none."
    if this.logical_bytes != that.logical_bytes:
        times = _times(this.logical_bytes, that.logical_bytes)
        amounts = this.beside(that), that.beside(this)
        return f"{this.name} moves {amounts[0]}{_line(this)}, {times}the other's {amounts[1]}{_its_line(that)}."
    if this.executions != that.executions:
        return (
            f"{this.name} moves the same {this.amount} in {_count(this.executions)}{_line(this)}, the other in "
            f"{_count(that.executions)}{_its_line(that)}."
        )
    return ""


def _exchanges(measured: Measured) -> dict[tuple[str, tuple[str, ...] | None], _Exchange]:
    alike: dict[tuple[str, tuple[str, ...] | None], list[CollectiveUse]] = {}
    for use in collectives_of(measured):
        alike.setdefault((use.kind, use.axes), []).append(use)
    return {key: _exchange(uses) for key, uses in alike.items()}


def _exchange(uses: list[CollectiveUse]) -> _Exchange:
    first = uses[0]
    over = f"over {', '.join(first.axes)}" if first.axes else "over no axis of the mesh"
    is_known = all(use.executions is not None for use in uses)
    return _Exchange(
        name=f"{first.kind} {over}",
        executions=sum(use.executions or 0 for use in uses) if is_known else None,
        logical_bytes=sum(use.total_bytes for use in uses) if is_known else None,
        ring_bytes=sum(use.ring_bytes * (use.executions or 1) for use in uses),
        line=max(uses, key=lambda use: use.logical_bytes * (use.executions or 1)).line,
    )


def _of_leaves(mine: Measured, other: Measured) -> Iterator[ProgramDifference]:
    sides = (
        ("comes in", dict([*mine.state_in, *mine.given]), dict([*other.state_in, *other.given])),
        ("comes out", dict(mine.out), dict(other.out)),
    )
    same_mesh = mine.mesh == other.mesh
    for verb, ours, theirs in sides:
        moved: dict[tuple[str, str], list[str]] = {}
        for path, leaf in ours.items():
            if path not in theirs:
                yield ProgramDifference("leaves", f"{path} {verb}; the other has no such leaf.")
            elif _is_otherwise(leaf, theirs[path], same_mesh):
                moved.setdefault((_form(leaf, theirs[path]), _form(theirs[path], leaf)), []).append(path)
        for (this, that), paths in moved.items():
            verbs = verb if len(paths) == 1 else verb.replace("comes", "come")
            yield ProgramDifference("leaves", f"{_names(paths)} {verbs} as {this}, the other's as {that}.")
        for path in theirs:
            if path not in ours:
                yield ProgramDifference("leaves", f"No {path} {verb}; the other has one.")


def _is_otherwise(leaf: ProgramLeaf, other: ProgramLeaf, same_mesh: bool) -> bool:
    placed = leaf.slices != other.slices if same_mesh else leaf.spec != other.spec
    return placed or (leaf.shape, leaf.dtype) != (other.shape, other.dtype)


def _form(leaf: ProgramLeaf, other: ProgramLeaf) -> str:
    """The spec, with shape and dtype if they differ."""
    if (leaf.shape, leaf.dtype) == (other.shape, other.dtype):
        return leaf.spec
    return f"{leaf.dtype}[{', '.join(map(str, leaf.shape))}] {leaf.spec}"


def _names(paths: list[str]) -> str:
    more = f" and {len(paths) - _MAX_NAMED} more" if len(paths) > _MAX_NAMED else ""
    return ", ".join(paths[:_MAX_NAMED]) + more


def _of_memory(mine: Measured, other: Measured) -> Iterator[ProgramDifference]:
    ours, theirs = mine.facts.memory, other.facts.memory
    for name, this, that in (
        ("arguments", ours.argument_bytes, theirs.argument_bytes),
        ("outputs", ours.output_bytes, theirs.output_bytes),
        ("temporaries", ours.temporary_bytes, theirs.temporary_bytes),
    ):
        if this != that:
            mine_text, other_text = _in_bytes(this, that)
            text = f"Each device holds {mine_text} of {name}, {_times(this, that)}the other's {other_text}."
            yield ProgramDifference("memory", text)


def _of_work(mine: Measured, other: Measured) -> Iterator[ProgramDifference]:
    this, that = mine.facts.census.dot_flops, other.facts.census.dot_flops
    if this != that:
        times, line = _times(this, that), None
        if this is not None and that is not None and this > that:
            line = _largest_line(mine)
        where = f" (most on line {line})" if line else ""
        text = f"Each device computes {_flops(this)} in matrix products{where}, {times}the other's {_flops(that)}."
        yield ProgramDifference("work", text, line)


def _largest_line(measured: Measured) -> int | None:
    lines: dict[int, int] = {}
    for dot in measured.facts.census.dots:
        if dot.source_line is not None:
            lines[dot.source_line] = lines.get(dot.source_line, 0) + dot.flops * (dot.executions or 0)
    return max(lines, key=lambda line: lines[line], default=None)


def _of_donation(mine: Measured, other: Measured) -> Iterator[ProgramDifference]:
    this, that = mine.facts.memory.alias_bytes, other.facts.memory.alias_bytes
    if this != that:
        mine_text, other_text = _in_bytes(this, that)
        text = f"{mine_text} on each device are overwritten in place, the other overwrites {other_text}."
        yield ProgramDifference("donation", text)


def _of_recompilation(mine: Measured, other: Measured) -> Iterable[ProgramDifference]:
    if mine.retraced == other.retraced:
        return ()
    again, once = ("This program", "the other") if mine.retraced else ("The other", "this program")
    return (
        ProgramDifference("recompilation", f"{again} is traced again for inputs of the same shape, {once} is not."),
    )


def _times(this: int | None, that: int | None) -> str:
    """Return `2 times `, to put before the other amount, or nothing if there is no useful ratio."""
    ratio = this / that if this and that else 1.0
    times = f"{ratio:.3g}"
    return "" if times == "1" or not 0.01 <= ratio <= 1000 else f"{times} times "


def _in_bytes(this: int, that: int) -> tuple[str, str]:
    """Format two different amounts, exactly if the rounded ones would look equal."""
    short = in_bytes(this), in_bytes(that)
    return short if short[0] != short[1] else (f"{this:,} B", f"{that:,} B")


def _flops(number: int | None) -> str:
    return "an unknown number of FLOPs" if number is None else f"{number:,} FLOPs"


def _count(executions: int | None) -> str:
    return (
        "an unknown number of executions" if executions is None else f"{executions} execution{'s' * (executions != 1)}"
    )


def _line(exchange: _Exchange) -> str:
    return f" (line {exchange.line})" if exchange.line else ""


def _its_line(other: _Exchange) -> str:
    return f" (its line {other.line})" if other.line else ""
