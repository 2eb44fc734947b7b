"""Arranges the program of a chip for the page of an exploration."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.units import TIMES, flops_text
from app.presentation.drawings.placement import label
from app.presentation.drawings.schedule import draw_schedule, hidden_text, wait_text
from app.presentation.drawings.schedule_copies import copies_text, copy_hidden_text
from app.presentation.drawings.timeline import axes_text
from grader.core.chips import CHIPS
from grader.explorer.exploration import ChipCollective, ChipComputation, ChipCopy, ChipProgram
from grader.explorer.remarks import sent_together

_MOST_LINES = 8
_MOST_COPIES = 8


@dataclass(frozen=True, slots=True)
class ChipPart:
    """A computation on a chip with collectives or copies, its drawing, and a row for each collective."""

    name: str
    drawing: Markup | None
    rows: tuple["ChipRow", ...]
    copies: "CopiesView | None"


@dataclass(frozen=True, slots=True)
class ChipRow:
    """What a line sends in a collective, in all executions. `hidden` says what is computed meanwhile.

    `remark` names the lines that are sent together with it.
    """

    name: str
    axes: str
    group_size: int
    dtypes: str
    executions: int | None
    bytes: int
    link: str
    hidden: str
    line: int | None
    remark: str


@dataclass(frozen=True, slots=True)
class ChipView:
    """The program on a slice, or the `fault`. `used` is the share of a chip's memory that is in use at most.

    `work` has the lines to which the compiler assigns most cycles, the largest first; `links` the bytes that a chip
    sends over each.
    """

    program: ChipProgram
    name: str
    is_gpu: bool
    compiler: str
    flops: str
    used: float
    work: tuple["ChipWork", ...]
    parts: tuple[ChipPart, ...]
    links: tuple[tuple[str, int], ...]
    communicates: bool


@dataclass(frozen=True, slots=True)
class ChipWork:
    """What a line computes on a chip in all its executions. `share` is its part of the program's cycles."""

    line: int | None
    cycles: int
    share: float


@dataclass(frozen=True, slots=True)
class CopyRow:
    """Copies of parts of equal shape for one line. `hidden` says what is computed during that with the least."""

    name: str
    target: str
    bytes: int
    hidden: str
    line: int | None


@dataclass(frozen=True, slots=True)
class CopiesView:
    """The copies between a chip's memories in one execution: all of them in a sentence, and a row for the largest."""

    summary: str
    rows: tuple[CopyRow, ...]
    unlisted: int


def arrange_chip(program: ChipProgram) -> ChipView:
    chip = CHIPS[program.topology.partition(":")[0]]
    parts = tuple(
        _chip_part(program.topology, number, each, is_gpu=chip.gpu is not None)
        for number, each in enumerate(program.computations)
        if each.collectives or each.copies
    )
    return ChipView(
        program=program,
        name="TPUs" if chip.gpu is None else f"{chip.title}s",
        is_gpu=chip.gpu is not None,
        compiler=program.compiler or "",
        flops=flops_text(program.flops),
        used=program.peak_bytes / program.hbm_bytes,
        work=_work(program),
        parts=parts,
        links=_links(program),
        communicates=any(each.collectives for each in program.computations),
    )


def _links(program: ChipProgram) -> tuple[tuple[str, int], ...]:
    """The bytes that a chip sends over each link in one call. A collective that runs an unknown number of times counts
    once.
    """
    sent: Counter[str] = Counter()
    for computation in program.computations:
        for each in computation.collectives:
            sent[each.link] += each.ring_bytes * (1 if computation.executions is None else computation.executions)
    return tuple(sent.items())


def _work(program: ChipProgram) -> tuple[ChipWork, ...]:
    loops = {each.caller for each in program.computations}
    cycles: Counter[int | None] = Counter()
    for each in program.computations:
        for step in each.steps:
            # The cycles of a loop are those of its body, which is a computation of its own.
            if step.cycles and step.name not in loops:
                cycles[step.line] += step.cycles * (each.executions or 1)
    return tuple(ChipWork(line, number, number / program.cycles) for line, number in cycles.most_common(_MOST_LINES))


def _chip_part(topology: str, number: int, computation: ChipComputation, *, is_gpu: bool) -> ChipPart:
    runs = "an unknown number of times" if computation.executions is None else f"{computation.executions} times"
    name = f"Part {number}, which runs {runs}" if computation.caller else "The program"
    remarked = zip(computation.collectives, sent_together(computation.collectives), strict=True)
    rows = tuple(_chip_row(each, computation.executions, remark) for each, remark in remarked)
    title = f"{name} on {topology}: the compiler's schedule"
    drawn = draw_schedule(title, computation, has_streams=is_gpu)
    return ChipPart(name, drawn, rows, _copies(computation.copies) if computation.copies else None)


def _copies(copies: Sequence[ChipCopy]) -> CopiesView:
    alike: dict[tuple[str, str, str, int | None], list[ChipCopy]] = {}
    for each in copies:
        alike.setdefault((each.shape, each.source, each.target, each.line), []).append(each)
    ordered = sorted(alike.values(), key=lambda these: -sum(each.bytes for each in these))
    return CopiesView(copies_text(copies), tuple(map(_copy_row, ordered[:_MOST_COPIES])), len(ordered[_MOST_COPIES:]))


def _copy_row(these: Sequence[ChipCopy]) -> CopyRow:
    first = these[0]
    least = min(these, key=lambda each: (each.hidden_cycles, each.hidden_kernels))
    return CopyRow(
        name=f"{len(these)} {TIMES} {first.shape}" if len(these) > 1 else first.shape,
        target=first.target,
        bytes=sum(each.bytes for each in these),
        hidden=copy_hidden_text(least) or "nothing",
        line=first.line,
    )


def _chip_row(each: ChipCollective, executions: int | None, remark: str) -> ChipRow:
    return ChipRow(
        name=label(each.collective) + (f" of {len(each.dtypes)} arrays" if len(each.dtypes) > 1 else ""),
        axes=axes_text(each.axes),
        group_size=each.group_size,
        dtypes=label(", ".join(dict.fromkeys(each.dtypes))),
        executions=executions,
        bytes=each.bytes * (executions or 1),
        link=each.link,
        hidden=hidden_text(each) or wait_text(each),
        line=each.line,
        remark=remark,
    )
