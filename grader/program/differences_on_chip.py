"""Describe how communication differs between a chip's and the CPU's program, compiled from the same artifact."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from grader.core.chips import Chip
from grader.core.text import in_bytes
from grader.program.axes import axes_of
from grader.program.collectives import Collective
from grader.program.schedule import Schedule

_REDUCE, _SCATTER = "all-reduce", "reduce-scatter"


@dataclass(frozen=True, slots=True)
class _Exchange:
    """All collectives of one kind over the same axes. Bytes and executions are None if one of them is unknown."""

    executions: int | None
    bytes: int | None
    dtypes: frozenset[str]

    @property
    def times(self) -> str:
        return {None: "an unknown number of times", 1: "once"}.get(self.executions, f"{self.executions} times")

    @property
    def amount(self) -> str:
        return "an unknown number of bytes" if self.bytes is None else in_bytes(self.bytes)

    @property
    def dtype(self) -> str:
        return " and ".join(sorted(self.dtypes))


def differences_on_chip(
    collectives: Iterable[Collective], mesh: Mapping[str, int], schedule: Schedule, chip: Chip
) -> list[str]:
    """Write one sentence for each kind of collective that differs, in the order of the CPU's program.

    Args:
      collectives: those of the CPU's program.
    """
    cpu = _exchanges(
        (each.kind, axes_of(each.groups, mesh), each.executions, each.logical_bytes, each.dtypes)
        for each in collectives
        if each.group_size > 1
    )
    theirs = _exchanges(
        (each.kind, each.axes, computation.executions, each.logical_bytes, each.dtypes)
        for computation in schedule.computations
        for each in computation.collectives
    )
    halved = dict(_halved(cpu, theirs))
    found: list[str] = []
    for name in dict.fromkeys((*cpu, *theirs)):
        if name in halved:
            if (size := halved[name]) is not None:
                found.append(
                    f"On the {chip.short}, {_SCATTER}{name.removeprefix(_REDUCE)} does for {in_bytes(size)} what "
                    f"{_REDUCE} does on the CPU: each device sends half as much."
                )
        else:
            found += _sentences(chip, name, cpu.get(name), theirs.get(name))
    return found


def _halved(cpu: Mapping[str, _Exchange], theirs: Mapping[str, _Exchange]) -> Iterator[tuple[str, int | None]]:
    """Yield each CPU all-reduce with the bytes that a reduce-scatter carries on the chip, and this one with None."""
    none = _Exchange(0, 0, frozenset())
    for name, reduced in cpu.items():
        if not name.startswith(_REDUCE):
            continue
        scatter = name.replace(_REDUCE, _SCATTER, 1)
        sizes = [each.get(kind, none).bytes for kind in (name, scatter) for each in (cpu, theirs)]
        if None in sizes or reduced.dtypes != theirs.get(scatter, none).dtypes:
            continue
        before, left, scattered_before, scattered = (size or 0 for size in sizes)
        if before - left == scattered - scattered_before > 0:
            yield name, before - left
            yield scatter, None


def _exchanges(
    found: Iterable[tuple[str, tuple[str, ...] | None, int | None, int, tuple[str, ...]]],
) -> dict[str, _Exchange]:
    sums: dict[str, _Exchange] = {}
    for kind, axes, executions, size, dtypes in found:
        name = f"{kind} over {' and '.join(axes)}" if axes else kind
        before = sums.get(name, _Exchange(0, 0, frozenset()))
        unknown = executions is None or before.executions is None or before.bytes is None
        sums[name] = _Exchange(
            None if unknown else (before.executions or 0) + (executions or 0),
            None if unknown else (before.bytes or 0) + size * (executions or 0),
            before.dtypes | set(dtypes),
        )
    return sums


def _sentences(chip: Chip, name: str, cpu: _Exchange | None, theirs: _Exchange | None) -> Iterator[str]:
    if cpu is None:
        assert theirs is not None
        yield f"Only the {chip.short} runs {name}: {theirs.times}, {theirs.amount}."
    elif theirs is None:
        yield f"Only the CPU runs {name}: {cpu.times}, {cpu.amount}."
    elif cpu.bytes != theirs.bytes:
        what = f" {theirs.dtype}, not {cpu.dtype}," if cpu.dtypes != theirs.dtypes else ""
        yield f"On the {chip.short}, {name} carries{what} {theirs.amount} in all; on the CPU {cpu.amount}."
    elif cpu.executions != theirs.executions:
        yield f"On the {chip.short}, {name} runs {theirs.times}, and on the CPU {cpu.times}, for the same bytes."
