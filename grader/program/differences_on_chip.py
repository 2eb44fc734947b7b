"""Describe how communication and products differ between the programs of a chip and of the CPU."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from grader.core.chips import Chip
from grader.core.text import in_bytes
from grader.program.axes import axes_of
from grader.program.collectives import Collective
from grader.program.schedule import Schedule
from grader.program.shapes import DTYPES, Shape

_REDUCE, _SCATTER = "all-reduce", "reduce-scatter"


@dataclass(frozen=True, slots=True)
class _Exchange:
    """All collectives of one kind over the same axes. Bytes and executions are None if one of them is unknown."""

    executions: int | None
    bytes: int | None
    dtypes: frozenset[str]

    @property
    def item_bits(self) -> int | None:
        """The bits of an element, or None if elements have different dtypes."""
        if len(self.dtypes) != 1:
            return None
        [dtype] = self.dtypes
        return Shape(dtype, ()).bits if dtype in DTYPES else None

    @property
    def elements(self) -> int | None:
        if self.bytes is None or not self.item_bits:
            return None
        return self.bytes * 8 // self.item_bits

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
            if (elements := halved[name]) is not None:
                found.append(_halved_sentence(chip, name, elements, cpu[name], theirs[_scattered(name)]))
        else:
            found += _sentences(chip, name, cpu.get(name), theirs.get(name))
    return found


def difference_in_products(chip: Chip, cpu: int | None, theirs: int | None, *, recomputes: bool) -> list[str]:
    """One sentence if the two programs compute different matrix products, else none.

    Args:
      cpu, theirs: the FLOPs of all matrix products on one device; None if unknown.
      recomputes: the function calls `jax.checkpoint`.
    """
    if cpu is None or theirs is None or cpu == theirs:
        return []
    found = f"On the {chip.short}, matrix products compute {theirs:,} FLOPs, and on the CPU {cpu:,}."
    if recomputes and theirs > cpu:
        found += (
            " The compiler for CPUs drops what a `jax.checkpoint` outside a loop computes again; this one keeps it."
        )
    return [found]


def _halved(cpu: Mapping[str, _Exchange], theirs: Mapping[str, _Exchange]) -> Iterator[tuple[str, int | None]]:
    """Yield each CPU all-reduce with the elements that a reduce-scatter carries on the chip, and this one with None.

    Elements and not bytes, because the compiler for CPUs reduces bfloat16 as float32.
    """
    for name in cpu:
        scatter = _scattered(name)
        if not name.startswith(_REDUCE) or scatter not in theirs:
            continue
        # What is not there carries nothing.
        sides = [each.get(kind) for kind in (name, scatter) for each in (cpu, theirs)]
        counts = [0 if side is None else side.elements for side in sides]
        if None in counts:
            continue
        before, left, scattered_before, scattered = (each or 0 for each in counts)
        if before - left == scattered - scattered_before > 0:
            yield name, before - left
            yield scatter, None


def _scattered(name: str) -> str:
    return name.replace(_REDUCE, _SCATTER, 1)


def _halved_sentence(chip: Chip, name: str, elements: int, cpu: _Exchange, theirs: _Exchange) -> str:
    bits, bits_of_cpu = theirs.item_bits or 0, cpu.item_bits or 1
    size = in_bytes(elements * bits / 8)
    if theirs.dtypes == cpu.dtypes:
        over = name.removeprefix(_REDUCE)
        return (
            f"On the {chip.short}, {_SCATTER}{over} does for {size} what {_REDUCE} does on the CPU: each device sends "
            "half as much."
        )
    share = "half" if 2 * bits == bits_of_cpu else f"{bits}/{bits_of_cpu}"
    return (
        f"On the {chip.short}, {_scattered(name)} of {theirs.dtype}, {size}, does what {_REDUCE} of {cpu.dtype}, "
        f"{in_bytes(elements * bits_of_cpu / 8)}, does on the CPU: each device sends half of the elements, and each "
        f"has {share} of the bytes."
    )


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
