"""Arranges the result of an exploration for its page: a part for each mesh, and what each line of the source causes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from app.core.web.units import flops_text
from app.presentation.chip_view import ChipView, arrange_chip
from app.presentation.drawings.placement import Mesh, label
from app.presentation.drawings.timeline import axes_text, calls_of, draw_timeline, kind_number, sent_text, times_text
from app.presentation.graph_view import GraphView, arrange_graph
from app.presentation.memory_view import HeatView, arrange_heat
from app.presentation.program_evidence import AmountsView, LeafView, arrange_amounts, arrange_leaves, leaf_table
from app.presentation.program_tables import arrays_table, buffers_table, collectives_table
from app.presentation.table import Table
from app.presentation.totals import compare_chip_totals, compare_totals, count_text, flops_of, headline
from grader.core.chips import CHIPS
from grader.explorer.exploration import (
    Explored,
    ExploredCollective,
    ExploredComputation,
    ExploredDifference,
    ExploredProgram,
)
from grader.explorer.remarks import remarks, whole_gathers

_MAX_ON_A_LINE = 4


@dataclass(frozen=True, slots=True)
class ProgramText:
    """A program to read, and how many of its instructions are left out."""

    title: str
    computations: tuple[ExploredComputation, ...]
    unlisted: int


@dataclass(frozen=True, slots=True)
class ProgramView:
    """One program on one mesh."""

    collectives: Table | None
    leaves: tuple[LeafView, ...]
    other_leaves: Table | None
    flops: str
    buffers: Table | None
    heat: HeatView | None
    retraced: bool
    remarks: list[str]
    arrays: Table | None
    texts: tuple[ProgramText, ...]
    graph: GraphView | None


@dataclass(frozen=True, slots=True)
class SentenceView:
    """A sentence, around the words that name a line of the first source; `line` is None without them."""

    before: str
    line: int | None
    after: str


@dataclass(frozen=True, slots=True)
class ComparedChips:
    """The other version's program for chips, and how this one differs from it."""

    totals: Table
    against: ChipView
    differences: tuple[SentenceView, ...]


@dataclass(frozen=True, slots=True)
class MeshView:
    """One mesh: the program in one line, and if there is another one to compare it with, that and the differences.

    `is_compared` is False if XLA compiles one of the two for chips alone, so that `chips_compared` has their numbers.
    """

    name: str
    headline: str
    short: str
    totals: Table | None
    program: ProgramView
    against: ProgramView | None
    differences: tuple[SentenceView, ...]
    memory: AmountsView
    timeline: Markup
    warnings: tuple[SentenceView, ...]
    on_chip: ChipView | None
    chips_compared: ComparedChips | None
    is_only_on_chip: bool
    is_compared: bool


class LineNote(NamedTuple):
    """A few words for a line in the editor. `kind` is the number of the collective's colour, and 0 without one."""

    text: str
    kind: int


class _Cause(NamedTuple):
    """What a line causes, as a sentence and in few words, and the kind of its note."""

    text: str
    short: str
    kind: int


@dataclass(frozen=True, slots=True)
class ExploredView:
    """`lines` says what a line of the source causes, for the first mesh on which it causes anything.

    `notes` is the first of these in a few words, for the editor. `chip` names the chip that it was also compiled for;
    it is empty if there is none. `other_lines` and `other_notes` are those of the other version.
    """

    meshes: tuple[MeshView, ...]
    chip: str
    lines: Mapping[int, tuple[str, ...]]
    notes: Mapping[int, LineNote]
    other_lines: Mapping[int, tuple[str, ...]]
    other_notes: Mapping[int, LineNote]


def arrange_explored(result: Explored) -> ExploredView:
    against: Sequence[ExploredProgram | None] = result.against or [None] * len(result.programs)
    differences = result.differences or [[] for _ in result.programs]
    # A result that was stored before chips were compared has no such differences.
    on_chips: Sequence[Sequence[ExploredDifference] | None] = result.chip_differences or [None] * len(result.programs)
    meshes = tuple(map(_mesh, result.programs, against, differences, on_chips))
    slices = [each.on_chip.program.topology for each in meshes if each.on_chip]
    chip = CHIPS[slices[0].partition(":")[0]].title if slices else ""
    return ExploredView(meshes, chip, *_lines_and_notes(result.programs), *_lines_and_notes(result.against or ()))


def _lines_and_notes(
    programs: Sequence[ExploredProgram],
) -> tuple[dict[int, tuple[str, ...]], dict[int, LineNote]]:
    causes = _causes_by_line(programs)
    lines = {line: _texts(these) for line, these in causes.items()}
    return lines, {line: _note(these) for line, these in causes.items()}


def _note(causes: Sequence[_Cause]) -> LineNote:
    """The first cause in few words, and how many more there are: `all-gather 64.0 KiB +1`."""
    more = [f"+{len(causes) - 1}"] if len(causes) > 1 else []
    return LineNote(" ".join([causes[0].short, *more]), causes[0].kind)


def lines_of(programs: Sequence[ExploredProgram]) -> dict[int, tuple[str, ...]]:
    """For each line of the source that causes communication or matrix products, a text for each of these."""
    return {line: _texts(these) for line, these in _causes_by_line(programs).items()}


def _causes_by_line(programs: Sequence[ExploredProgram]) -> dict[int, list[_Cause]]:
    """What each line causes, for the first program in which it causes anything."""
    found: dict[int, list[_Cause]] = {}
    for program in programs:
        here: dict[int, list[_Cause]] = {}
        for line, cause in _causes(program):
            here.setdefault(line, []).append(cause)
        found = here | found
    return dict(sorted(found.items()))


def _causes(program: ExploredProgram) -> Iterator[tuple[int, _Cause]]:
    alike: dict[tuple[int, str, str, bool, bool, str], list[ExploredCollective]] = {}
    for each, remark in zip(program.collectives, remarks(program.collectives), strict=True):
        if each.line is not None:
            key = (each.line, label(each.collective), axes_text(each.axes), each.in_loop, each.conditional, remark)
            alike.setdefault(key, []).append(each)
    for (line, name, axes, in_loop, conditional, remark), these in alike.items():
        count = times_text(calls_of(these))
        unknown = any(each.executions is None for each in these)
        size = sent_text(None if unknown else 1, sum(each.sent_bytes for each in these), most=conditional)
        where = " in a branch" * conditional + " in a loop" * in_loop
        text = f"{count}{name}{f' over {axes}' if axes else ''}, {size}{where}{', ' * bool(remark)}{remark}"
        yield line, _Cause(text, f"{count}{name} {size}", kind_number(these[0].collective))
    yield from dict.fromkeys(_constraints(program))
    for work in program.flops_by_line:
        if work.line is not None and work.flops:
            flops = f"{'at most ' * work.conditional}{flops_text(work.flops)}"
            yield work.line, _Cause(f"{flops} in matrix products", flops, 0)


def _constraints(program: ExploredProgram) -> Iterator[tuple[int, _Cause]]:
    """The lines of sharding constraints for which the partitioner inserted collectives of other lines."""
    for each in program.collectives:
        if each.constraint_line is not None and each.line not in (None, each.constraint_line):
            share = f", of which a device keeps 1/{each.kept_of}" if each.kept_of else ""
            text = f"constraint of the {label(each.collective)} on line {each.line}"
            yield each.constraint_line, _Cause(f"{text}{share}", text, kind_number(each.collective))


def _texts(causes: Sequence[_Cause]) -> tuple[str, ...]:
    texts = [each.text for each in causes]
    more = len(texts) - _MAX_ON_A_LINE
    return (*texts[:_MAX_ON_A_LINE], f"{more} more") if more > 0 else tuple(texts)


def _mesh(
    program: ExploredProgram,
    against: ExploredProgram | None,
    differences: Sequence[ExploredDifference],
    on_chips: Sequence[ExploredDifference] | None,
) -> MeshView:
    mesh = Mesh.of(program.mesh)
    lanes = {"A": program} | ({} if against is None else {"B": against})
    calls = {name: calls_of(each.collectives) for name, each in lanes.items()}
    anchors = {
        name: [f"{prefix}-{call.line}" if call.line else "" for call in each.collectives]
        for prefix, (name, each) in zip(("line", "other"), lanes.items(), strict=False)
    }
    notes = {name: remarks(each.collectives) for name, each in lanes.items()}
    other_on_chip = None if against is None else against.on_chip
    return MeshView(
        name=str(mesh),
        headline=headline(program),
        short=count_text(program),
        totals=None if against is None else compare_totals(program, against),
        program=_program(program, "line-"),
        against=None if against is None else _program(against, "other-"),
        differences=tuple(_with_link(each.line, each.text) for each in differences),
        memory=arrange_amounts(program.memory, with_zeros=False),
        timeline=draw_timeline(f"Collectives in program order, {mesh}", calls, anchors, notes),
        warnings=tuple(_with_link(line, text) for line, text in whole_gathers(program.collectives)),
        on_chip=None if program.on_chip is None else arrange_chip(program.on_chip, other_on_chip),
        chips_compared=_chips_compared(program, against, on_chips),
        is_only_on_chip=program.is_only_on_chip,
        is_compared=not (program.is_only_on_chip or (against is not None and against.is_only_on_chip)),
    )


def _chips_compared(
    program: ExploredProgram, against: ExploredProgram | None, differences: Sequence[ExploredDifference] | None
) -> ComparedChips | None:
    """None unless both programs were compiled for chips, too."""
    if program.on_chip is None or against is None or against.on_chip is None or differences is None:
        return None
    return ComparedChips(
        totals=compare_chip_totals(program.on_chip, against.on_chip),
        against=arrange_chip(against.on_chip),
        differences=tuple(_with_link(each.line, each.text) for each in differences),
    )


def _with_link(line: int | None, text: str) -> SentenceView:
    before, words, after = text.partition(f"line {line}")
    return SentenceView(before, line if words else None, after)


def _program(program: ExploredProgram, prefix: str) -> ProgramView:
    leaves = arrange_leaves(program.leaves)
    return ProgramView(
        collectives=collectives_table(program),
        leaves=leaves,
        other_leaves=leaf_table("Leaves not drawn", leaves, program.unlisted_leaves, is_graded=False),
        flops=flops_of(program),
        buffers=buffers_table(program),
        heat=arrange_heat(program),
        retraced=program.retraced,
        remarks=program.remarks,
        arrays=arrays_table(program),
        graph=arrange_graph(program.graph, program.collectives, str(Mesh.of(program.mesh)), prefix),
        texts=tuple(
            ProgramText(title, tuple(computations), unlisted)
            for title, computations, unlisted in (
                ("The jaxpr that JAX traced", program.jaxpr, program.unlisted_equations),
                ("The StableHLO that JAX wrote", program.stablehlo, program.unlisted_operations),
                ("The HLO that each device runs", program.hlo, program.unlisted_instructions),
            )
            if computations
        ),
    )
