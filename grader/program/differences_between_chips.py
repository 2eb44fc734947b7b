"""Describe how two programs for chips differ: what they send, what hides it, what they hold and compute."""

from collections.abc import Iterator
from dataclasses import dataclass

from grader.core.chips import Chip, slice_of
from grader.core.text import in_bytes
from grader.program.compared_amounts import (
    ProgramDifference,
    Sent,
    at_line,
    beside,
    difference_in_donation,
    difference_in_memory,
    difference_in_work,
    differences_in_exchanges,
    its_line,
    largest_line,
    times_text,
)
from grader.program.measurement import Measured
from grader.program.on_chip import ChipFacts
from grader.program.schedule import Schedule, product, sum_of, total


def differences_between_chips(mine: Measured, other: Measured) -> tuple[ProgramDifference, ...]:
    """Say how the programs of two sources differ on the chips that both were compiled for; () without a chip."""
    this, that = mine.on_chip, other.on_chip
    if this is None or that is None or (this.program is None and that.program is None):
        return ()
    if this.program is None or that.program is None:
        without, with_it = ("This program", "the other") if this.program is None else ("The other", "this program")
        text = f"{without} has no program for {this.topology}; {with_it} has one."
        return (ProgramDifference("compilation", text),)
    chip, _ = slice_of(this.topology)
    return compare_on_chip(this.program, that.program, chip)


def compare_on_chip(mine: ChipFacts, other: ChipFacts, chip: Chip) -> tuple[ProgramDifference, ...]:
    """Say how two programs for the same chips differ: communication and its order, memory, products, donation."""
    ours, theirs, device = mine.memory, other.memory, chip.short
    exchanges = differences_in_exchanges(_sent(mine.schedule), _sent(other.schedule))
    amounts = (
        ("at its peak", mine.peak_bytes, other.peak_bytes),
        ("of arguments", ours.argument_bytes, theirs.argument_bytes),
        ("of outputs", ours.output_bytes, theirs.output_bytes),
        ("of temporaries", ours.temporary_bytes, theirs.temporary_bytes),
        ("in the memory of its host", mine.host_bytes, other.host_bytes),
    )
    return (
        *exchanges,
        *_of_cover(mine.schedule, other.schedule, chip),
        # Different collectives are not in the same order anyway.
        *(() if exchanges else _of_order(mine.schedule, other.schedule)),
        *(each for amount in amounts for each in difference_in_memory(*amount, device=device)),
        *difference_in_work(mine.flops, other.flops, _line_of_most_work(mine.schedule), device=device),
        *difference_in_donation(ours.alias_bytes, theirs.alias_bytes, device=device),
    )


def _sent(schedule: Schedule) -> list[Sent]:
    """The collectives of all computations, as they are scheduled."""
    return [
        Sent(
            each.kind,
            each.axes,
            computation.executions,
            each.logical_bytes,
            each.ring_bytes,
            each.line,
            tuple(sorted(set(each.dtypes))),
        )
        for computation in schedule.computations
        for each in computation.collectives
    ]


@dataclass(frozen=True, slots=True)
class _Cover:
    """What runs beside the collectives of one kind over the same axes.

    Attributes:
      bytes: the bytes of those beside which a kernel runs, over all executions.
      whole: the bytes of all of them.
      work: FLOPs, or cycles if the compiler estimates them; None if unknown. What runs beside two counts once.
    """

    name: str
    line: int | None
    bytes: int
    whole: int
    work: int | None


def _of_cover(mine: Schedule, other: Schedule, chip: Chip) -> Iterator[ProgramDifference]:
    """One sentence for each kind of collective and its axes that both have, if something else hides them."""
    ours, theirs = _covers(mine, chip), _covers(other, chip)
    for key, this in ours.items():
        that = theirs.get(key)
        if that is None:
            continue
        text = ""
        if this.bytes * that.whole != that.bytes * this.whole:
            text = f"{_beside(this)}{at_line(this.line)}; {_beside_the_others(that)}{its_line(that.line)}."
        elif this.work is not None and that.work is not None and this.work != that.work:
            unit = "cycles" if chip.gpu is None else "FLOPs of matrix products"
            text = (
                f"Beside {this.name}{at_line(this.line)} run {this.work:,} {unit}, "
                f"{times_text(this.work, that.work)}the other's {that.work:,}."
            )
        if text:
            yield ProgramDifference("order", text, this.line)


def _beside(cover: _Cover) -> str:
    if not cover.bytes:
        return f"No kernel runs beside {cover.name}"
    if cover.bytes == cover.whole:
        return f"Kernels run beside all of {cover.name}"
    part, whole = beside(cover.bytes, cover.whole)
    return f"Kernels run beside {part} of the {whole} of {cover.name}"


def _beside_the_others(cover: _Cover) -> str:
    if not cover.bytes:
        return "none runs beside the other's"
    if cover.bytes == cover.whole:
        return "kernels run beside all of the other's"
    part, whole = beside(cover.bytes, cover.whole)
    return f"kernels run beside {part} of the other's {whole}"


def _covers(schedule: Schedule, chip: Chip) -> dict[tuple[str, tuple[str, ...] | None], _Cover]:
    found: dict[tuple[str, tuple[str, ...] | None], _Cover] = {}
    for computation in schedule.computations:
        times = 1 if computation.executions is None else computation.executions
        alike: dict[tuple[str, tuple[str, ...] | None], set[int]] = {}
        for sent, each in zip(_sent(Schedule((computation,), 0)), computation.collectives, strict=True):
            kernels = computation.kernels_between(each)
            before = found.get(sent.key, _Cover(sent.name, sent.line, 0, 0, 0))
            size = sent.logical_bytes * times
            found[sent.key] = _Cover(
                before.name, before.line, before.bytes + size * bool(kernels), before.whole + size, before.work
            )
            if kernels:
                alike.setdefault(sent.key, set()).update(range(each.start + 1, each.done or len(computation.steps)))
        for key, numbers in alike.items():
            steps = [computation.steps[number] for number in sorted(numbers)]
            work = sum(step.cycles or 0 for step in steps) if chip.gpu is None else total(each.flops for each in steps)
            before = found[key]
            found[key] = _Cover(
                before.name, before.line, before.bytes, before.whole, sum_of(before.work, product(work, times))
            )
    return found


def _of_order(mine: Schedule, other: Schedule) -> Iterator[ProgramDifference]:
    """One sentence for the first collective at which the two schedules part."""
    for number, (this, that) in enumerate(zip(_sent(mine), _sent(other), strict=False), start=1):
        if (this.key, this.logical_bytes) != (that.key, that.logical_bytes):
            text = (
                f"Collective {number} in the schedule is {this.name} of {in_bytes(this.logical_bytes)}"
                f"{at_line(this.line)}; the other's is {that.name} of {in_bytes(that.logical_bytes)}"
                f"{its_line(that.line)}."
            )
            yield ProgramDifference("order", text, this.line)
            return


def _line_of_most_work(schedule: Schedule) -> int | None:
    # The work of a loop is that of its body, which is a computation of its own.
    loops = {each.caller for each in schedule.computations}
    return largest_line(
        (step.line, (step.flops or 0) * (computation.executions or 0))
        for computation in schedule.computations
        for step in computation.steps
        if step.name not in loops
    )
