"""Arranges the result of an exploration for its page: a part for each mesh, and what each line of the source causes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.drawings.placement import Mesh, label
from app.core.web.drawings.schedule import draw_schedule, hidden_text
from app.core.web.drawings.timeline import axes_text, draw_timeline
from app.core.web.drawings.units import TIMES, bytes_text, flops_text
from app.core.web.program_evidence import AmountsView, LeafView, arrange_amounts, arrange_leaves
from app.learning.explorer.memory_view import BufferView, HeatView, arrange_heat, largest_buffers
from app.learning.explorer.totals import TotalRow, compare_totals, count_text, headline
from grader.core.chips import CHIPS
from grader.explorer.exploration import (
    ChipCollective,
    ChipComputation,
    ChipProgram,
    Explored,
    ExploredCollective,
    ExploredComputation,
    ExploredDifference,
    ExploredProgram,
)
from grader.verdicts.evidence import CollectiveCall

_MAX_ON_A_LINE = 4
_MOST_LINES = 8


@dataclass(frozen=True, slots=True)
class CollectiveRow:
    """One collective. Bytes are those of all executions, or of one if their number is unknown."""

    name: str
    axes: str
    group_size: int
    in_loop: bool
    executions: int | None
    bytes: int
    ring_bytes: int
    line: int | None


@dataclass(frozen=True, slots=True)
class ProgramText:
    """A program to read, and how many of its instructions are left out."""

    title: str
    computations: tuple[ExploredComputation, ...]
    unlisted: int


@dataclass(frozen=True, slots=True)
class ProgramView:
    """One program on one mesh."""

    collectives: tuple[CollectiveRow, ...]
    unlisted_collectives: int
    leaves: tuple[LeafView, ...]
    unlisted_leaves: int
    flops: str
    buffers: tuple[BufferView, ...]
    heat: HeatView | None
    retraced: bool
    texts: tuple[ProgramText, ...]


@dataclass(frozen=True, slots=True)
class DifferenceView:
    """A sentence about two programs, around the words that name a line of the first; `line` is None without them."""

    before: str
    line: int | None
    after: str


@dataclass(frozen=True, slots=True)
class ChipPart:
    """A computation on a chip with collectives, its drawing and a row for each collective."""

    name: str
    drawing: Markup | None
    rows: tuple["ChipRow", ...]


@dataclass(frozen=True, slots=True)
class ChipRow:
    """A collective. Bytes are those of all executions. `hidden` says what is computed at the same time."""

    name: str
    axes: str
    group_size: int
    dtypes: str
    executions: int | None
    bytes: int
    link: str
    hidden: str
    line: int | None


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


@dataclass(frozen=True, slots=True)
class ChipWork:
    """What a line computes on a chip in all its executions. `share` is its part of the program's cycles."""

    line: int | None
    cycles: int
    share: float


@dataclass(frozen=True, slots=True)
class MeshView:
    """One mesh: the program in one line, and if there is another one to compare it with, that and the differences."""

    name: str
    headline: str
    short: str
    totals: tuple[TotalRow, ...]
    program: ProgramView
    against: ProgramView | None
    differences: tuple[DifferenceView, ...]
    memory: AmountsView
    timeline: Markup
    on_chip: ChipView | None
    is_only_on_chip: bool


@dataclass(frozen=True, slots=True)
class ExploredView:
    """`lines` says what a line of the source causes, for the first mesh on which it causes anything.

    `notes` is the costliest of these in a few words, for the margin of the editor.
    """

    meshes: tuple[MeshView, ...]
    lines: Mapping[int, tuple[str, ...]]
    notes: Mapping[int, str]


def arrange_explored(result: Explored) -> ExploredView:
    against: Sequence[ExploredProgram | None] = result.against or [None] * len(result.programs)
    differences = result.differences or [[] for _ in result.programs]
    meshes = tuple(map(_mesh, result.programs, against, differences))
    lines = lines_of(result.programs)
    return ExploredView(meshes, lines, {line: _note(texts) for line, texts in lines.items()})


def _note(texts: Sequence[str]) -> str:
    """The first cause without its axes, and whether there are more: `all-gather 64.0 KiB +1`."""
    cause, _, size = texts[0].partition(", ")
    name = cause.partition(" over ")[0].replace(" in matrix products", "")
    return " ".join([name, *([size] if size else []), *([f"+{len(texts) - 1}"] if len(texts) > 1 else [])])


def lines_of(programs: Sequence[ExploredProgram]) -> dict[int, tuple[str, ...]]:
    """For each line of the source that causes communication or matrix products, a text for each of these."""
    found: dict[int, tuple[str, ...]] = {}
    for program in programs:
        here: dict[int, list[str]] = {}
        for line, text in _causes(program):
            here.setdefault(line, []).append(text)
        found = {line: _shortened(texts) for line, texts in here.items()} | found
    return dict(sorted(found.items()))


def _causes(program: ExploredProgram) -> Iterator[tuple[int, str]]:
    alike: dict[tuple[int, str, str, bool], list[ExploredCollective]] = {}
    for each in program.collectives:
        if each.line is not None:
            key = (each.line, label(each.collective), axes_text(each.axes), each.in_loop)
            alike.setdefault(key, []).append(each)
    for (line, name, axes, in_loop), these in alike.items():
        count = f"{len(these)} {TIMES} " if len(these) > 1 else ""
        text = f"{count}{name}{f' over {axes}' if axes else ''}, {bytes_text(sum(map(_whole_bytes, these)))}"
        yield line, f"{text} in a loop" if in_loop else text
    for work in program.flops_by_line:
        if work.line is not None and work.flops:
            yield work.line, f"{flops_text(work.flops)} in matrix products"


def _whole_bytes(each: ExploredCollective) -> int:
    """Of all executions, or of one if their number is unknown."""
    return each.bytes * (each.executions or 1)


def _shortened(texts: list[str]) -> tuple[str, ...]:
    more = len(texts) - _MAX_ON_A_LINE
    return (*texts[:_MAX_ON_A_LINE], f"{more} more") if more > 0 else tuple(texts)


def _mesh(
    program: ExploredProgram, against: ExploredProgram | None, differences: Sequence[ExploredDifference]
) -> MeshView:
    mesh = Mesh.of(program.mesh)
    lanes = {"This program": program} | ({} if against is None else {"The other version": against})
    calls = {name: calls_of(each) for name, each in lanes.items()}
    anchors = {
        name: [f"{prefix}-{call.line}" if call.line else "" for call in each.collectives]
        for prefix, (name, each) in zip(("line", "other"), lanes.items(), strict=False)
    }
    return MeshView(
        name=str(mesh),
        headline=headline(program),
        short=count_text(program),
        totals=() if against is None else compare_totals(program, against),
        program=_program(program),
        against=None if against is None else _program(against),
        differences=tuple(map(_difference, differences)),
        memory=arrange_amounts(program.memory),
        timeline=draw_timeline(f"Collectives in program order, {mesh}", calls, anchors),
        on_chip=None if program.on_chip is None else _on_chip(program.on_chip),
        is_only_on_chip=program.is_only_on_chip,
    )


def _on_chip(program: ChipProgram) -> ChipView:
    chip = CHIPS[program.topology.partition(":")[0]]
    parts = tuple(
        _chip_part(program.topology, number, each, is_gpu=chip.gpu is not None)
        for number, each in enumerate(program.computations)
        if each.collectives
    )
    return ChipView(
        program=program,
        name="TPUs" if chip.gpu is None else f"{chip.title}s",
        is_gpu=chip.gpu is not None,
        compiler=_compiler(program),
        flops=flops_text(program.flops),
        used=program.peak_bytes / program.hbm_bytes,
        work=_work(program),
        parts=parts,
        links=_links(program),
    )


def _compiler(program: ChipProgram) -> str:
    """Explorations that are older than the GPUs name the version of libtpu alone."""
    compiler = program.compiler or ""
    return compiler if " " in compiler else f"libtpu {compiler}"


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
    rows = tuple(_chip_row(each, computation.executions) for each in computation.collectives)
    title = f"{name} on {topology}: the compiler's schedule"
    return ChipPart(name, draw_schedule(title, computation, has_streams=is_gpu), rows)


def _chip_row(each: ChipCollective, executions: int | None) -> ChipRow:
    return ChipRow(
        name=label(each.collective) + (f" of {len(each.dtypes)} arrays" if len(each.dtypes) > 1 else ""),
        axes=axes_text(each.axes),
        group_size=each.group_size,
        dtypes=label(", ".join(dict.fromkeys(each.dtypes))),
        executions=executions,
        bytes=each.bytes * (executions or 1),
        link=each.link,
        hidden=hidden_text(each) or "nothing (everything else waits)",
        line=each.line,
    )


def _difference(difference: ExploredDifference) -> DifferenceView:
    before, words, after = difference.text.partition(f"line {difference.line}")
    return DifferenceView(before, difference.line if words else None, after)


def _program(program: ExploredProgram) -> ProgramView:
    return ProgramView(
        collectives=tuple(map(_row, program.collectives)),
        unlisted_collectives=program.unlisted_collectives,
        leaves=arrange_leaves(program.leaves),
        unlisted_leaves=program.unlisted_leaves,
        flops=flops_text(program.flops),
        buffers=largest_buffers(program),
        heat=arrange_heat(program),
        retraced=program.retraced,
        texts=tuple(
            ProgramText(title, tuple(computations), unlisted)
            for title, computations, unlisted in (
                ("The StableHLO that JAX wrote", program.stablehlo, program.unlisted_operations),
                ("The HLO that each device runs", program.hlo, program.unlisted_instructions),
            )
            if computations
        ),
    )


def _row(each: ExploredCollective) -> CollectiveRow:
    return CollectiveRow(
        name=label(each.collective),
        axes=axes_text(each.axes),
        group_size=each.group_size,
        in_loop=each.in_loop,
        executions=each.executions,
        bytes=_whole_bytes(each),
        ring_bytes=each.ring_bytes * (each.executions or 1),
        line=each.line,
    )


def calls_of(program: ExploredProgram) -> list[CollectiveCall]:
    """The collectives as drawings take them."""
    return [
        CollectiveCall(
            collective=each.collective,
            axes=each.axes,
            bytes=each.bytes,
            executions=each.executions,
            in_loop=each.in_loop,
        )
        for each in program.collectives
    ]
