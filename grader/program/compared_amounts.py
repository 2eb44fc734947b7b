"""Describe differences between two programs in what they send, hold and compute, on host devices or on chips."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from grader.core.text import in_bytes

Kind = Literal["collectives", "order", "leaves", "memory", "work", "donation", "recompilation", "compilation"]


@dataclass(frozen=True, slots=True)
class ProgramDifference:
    """One difference. `line` is the first program's line that causes it; None if unknown or in the other program."""

    kind: Kind
    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A collective. Bytes are those of one execution; `executions` is None if their number is unknown.

    `dtypes` are those that its compiler sends, or () if they are not to be compared: the compiler for CPUs widens some.
    """

    kind: str
    axes: tuple[str, ...] | None
    executions: int | None
    logical_bytes: int
    ring_bytes: int
    line: int | None
    dtypes: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, tuple[str, ...] | None]:
        return self.kind, self.axes

    @property
    def name(self) -> str:
        return f"{self.kind} over {', '.join(self.axes) if self.axes else 'no axis of the mesh'}"


@dataclass(frozen=True, slots=True)
class _Exchange:
    """All collectives of one kind over the same axes. Bytes are None if some run an unknown number of times."""

    name: str
    executions: int | None
    logical_bytes: int | None
    ring_bytes: int
    line: int | None
    dtypes: tuple[str, ...]

    @property
    def amount(self) -> str:
        return "an unknown number of bytes" if self.logical_bytes is None else in_bytes(self.logical_bytes)

    def beside(self, other: "_Exchange") -> str:
        """The amount, exact if the rounded amounts would look equal, with the dtypes if they differ."""
        amount = self.amount
        if self.logical_bytes is not None and other.logical_bytes not in (None, self.logical_bytes):
            amount = beside(self.logical_bytes, other.logical_bytes)[0]
        return amount if self.dtypes == other.dtypes else f"{amount} of {' and '.join(self.dtypes)}"


def differences_in_exchanges(mine: Iterable[Sent], other: Iterable[Sent]) -> list[ProgramDifference]:
    """One sentence for each kind of collective and its axes, the costliest difference first."""
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
        return f"No {that.name}; the other moves {that.amount}{its_line(that.line)}." if that else ""
    if that is None:
        return f"{this.name} moves {this.amount}{at_line(this.line)}; the other has none."
    if this.logical_bytes != that.logical_bytes or this.dtypes != that.dtypes:
        times = times_text(this.logical_bytes, that.logical_bytes)
        amounts = this.beside(that), that.beside(this)
        return (
            f"{this.name} moves {amounts[0]}{at_line(this.line)}, {times}the other's {amounts[1]}{its_line(that.line)}."
        )
    if this.executions != that.executions:
        return (
            f"{this.name} moves the same {this.amount} in {_count(this.executions)}{at_line(this.line)}, the other in "
            f"{_count(that.executions)}{its_line(that.line)}."
        )
    return ""


def _exchanges(sent: Iterable[Sent]) -> dict[tuple[str, tuple[str, ...] | None], _Exchange]:
    alike: dict[tuple[str, tuple[str, ...] | None], list[Sent]] = {}
    for each in sent:
        alike.setdefault(each.key, []).append(each)
    return {key: _exchange(these) for key, these in alike.items()}


def _exchange(these: list[Sent]) -> _Exchange:
    is_known = all(each.executions is not None for each in these)
    return _Exchange(
        name=these[0].name,
        executions=sum(each.executions or 0 for each in these) if is_known else None,
        logical_bytes=sum(each.logical_bytes * (each.executions or 0) for each in these) if is_known else None,
        ring_bytes=sum(each.ring_bytes * (each.executions or 1) for each in these),
        line=max(these, key=lambda each: each.logical_bytes * (each.executions or 1)).line,
        dtypes=tuple(sorted({dtype for each in these for dtype in each.dtypes})),
    )


def difference_in_memory(what: str, this: int, that: int, *, device: str = "device") -> Iterator[ProgramDifference]:
    """One sentence if the amounts differ: `Each device holds 6 KiB of temporaries, …`. `what` is after the amount."""
    if this != that:
        mine_text, other_text = beside(this, that)
        text = f"Each {device} holds {mine_text} {what}, {times_text(this, that)}the other's {other_text}."
        yield ProgramDifference("memory", text)


def difference_in_work(
    this: int | None, that: int | None, line: int | None, *, device: str = "device"
) -> Iterator[ProgramDifference]:
    """One sentence if the matrix products differ. `line` has most of the first program's FLOPs."""
    if this != that:
        # Name a line only of the program that computes more.
        line = line if this is not None and that is not None and this > that else None
        where = f" (most on line {line})" if line else ""
        text = (
            f"Each {device} computes {_flops(this)} in matrix products{where}, {times_text(this, that)}the other's "
            f"{_flops(that)}."
        )
        yield ProgramDifference("work", text, line)


def difference_in_donation(this: int, that: int, *, device: str = "device") -> Iterator[ProgramDifference]:
    """One sentence if different numbers of bytes are overwritten in place."""
    if this != that:
        mine_text, other_text = beside(this, that)
        text = f"{mine_text} on each {device} are overwritten in place, the other overwrites {other_text}."
        yield ProgramDifference("donation", text)


def largest_line(flops: Iterable[tuple[int | None, int]]) -> int | None:
    """The line with most FLOPs; None if no product has a line."""
    lines: dict[int, int] = {}
    for line, number in flops:
        if line is not None:
            lines[line] = lines.get(line, 0) + number
    return max(lines, key=lambda line: lines[line], default=None)


def times_text(this: int | None, that: int | None) -> str:
    """Return `2 times `, to put before the other amount, or nothing if there is no useful ratio."""
    ratio = this / that if this and that else 1.0
    times = f"{ratio:.3g}"
    return "" if times == "1" or not 0.01 <= ratio <= 1000 else f"{times} times "


def beside(this: int, that: int) -> tuple[str, str]:
    """Format two different numbers of bytes, exactly if the rounded ones would look equal."""
    short = in_bytes(this), in_bytes(that)
    return short if short[0] != short[1] else (f"{this:,} B", f"{that:,} B")


def at_line(line: int | None) -> str:
    return f" (line {line})" if line else ""


def its_line(line: int | None) -> str:
    return f" (its line {line})" if line else ""


def _flops(number: int | None) -> str:
    return "an unknown number of FLOPs" if number is None else f"{number:,} FLOPs"


def _count(executions: int | None) -> str:
    return (
        "an unknown number of executions" if executions is None else f"{executions} execution{'s' * (executions != 1)}"
    )
