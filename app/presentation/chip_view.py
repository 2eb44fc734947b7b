"""Arranges the program of a chip for the page of an exploration."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.units import TIMES, bytes_text, exact_text, flops_text
from app.presentation.drawings.placement import label
from app.presentation.drawings.schedule import draw_schedule, hidden_text, wait_text
from app.presentation.drawings.schedule_copies import copies_text, copy_hidden_text
from app.presentation.program_evidence import AmountsView, arrange_amounts
from app.presentation.program_tables import over
from app.presentation.table import Cell, Row, Table, and_more, at_lines, code, columns, count, size
from app.presentation.totals import chip_headline
from grader.core.chips import CHIPS
from grader.explorer.exploration import ChipCollective, ChipComputation, ChipCopy, ChipProgram
from grader.explorer.remarks import sent_together
from grader.program.shapes import JAX_NAMES
from grader.verdicts.evidence import Amount, Amounts

_MOST_LINES = 8
_MOST_COPIES = 8


@dataclass(frozen=True, slots=True)
class ChipPart:
    """A computation on a chip with collectives or copies: its drawing, and both as tables, with bytes of all executions
    of the collectives and of one execution of the copies.
    """

    name: str
    drawing: Markup | None
    collectives: Table | None
    copies: Table | None


@dataclass(frozen=True, slots=True)
class ChipView:
    """The program on a slice, or the `fault`. `used` is the share of a chip's memory that is in use at most.

    `headline` is the program in one line. `memory` and `sent` are sentences. `work` has the lines to which the compiler
    assigns most cycles.
    """

    program: ChipProgram
    name: str
    is_gpu: bool
    compiler: str
    used: float
    headline: str
    memory: str
    sent: str
    amounts: AmountsView
    work: Table | None
    calls: Table | None
    parts: tuple[ChipPart, ...]
    communicates: bool


def arrange_chip(program: ChipProgram, other: ChipProgram | None = None) -> ChipView:
    """Arrange the program, with the amounts of another version's beside its own."""
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
        used=program.peak_bytes / program.hbm_bytes,
        headline=chip_headline(program),
        memory=_memory(program),
        sent=_sent(program) if chip.gpu is not None else "",
        amounts=arrange_amounts(_amounts(program, other, "TPU" if chip.gpu is None else chip.title), with_zeros=False),
        work=_work(program),
        calls=_calls(program),
        parts=parts,
        communicates=any(each.collectives for each in program.computations),
    )


def _memory(program: ChipProgram) -> str:
    parts = {"arguments": program.argument_bytes, "temporaries": program.temporary_bytes}
    included = " and ".join(
        f"{bytes_text(each)} for {name}" for name, each in parts.items() if each or name == "arguments"
    )
    on_host = f"{bytes_text(program.host_bytes)} are in the host's memory. "
    in_place = f"{bytes_text(program.alias_bytes)} of the arguments are overwritten in place. "
    return (
        f"At its peak, the program uses {bytes_text(program.peak_bytes)} of a chip's {bytes_text(program.hbm_bytes)}, "
        f"including {included}. {_for_cublas(program)}{on_host if program.host_bytes else ''}"
        f"{in_place if program.alias_bytes else ''}"
        f"Matrix products on each chip: {flops_text(program.flops)}."
    )


def _for_cublas(program: ChipProgram) -> str:
    """Say how much of the memory is there only for cuBLAS, and for what; empty if none is."""
    found = program.for_libraries
    if found is None or not (found.operand_bytes or found.workspace_bytes):
        return ""
    parts, instead = [], ""
    if found.operand_bytes and found.operands:
        first = found.operands[0]
        source, dtype = (JAX_NAMES.get(each, each.replace("f8", "float8_")) for each in (first.given, first.dtype))
        what = "transposed" if source == dtype else f"converted from {source} to {dtype}"
        line = f" on line {first.line}" if first.line else ""
        which = "an operand that is" if len(found.operands) == 1 else "operands, the largest of which is"
        parts.append(f"{bytes_text(found.operand_bytes)} for {which} {what} for it{line}")
        instead = "XLA's own kernels do that while they multiply. "
    if found.workspace_bytes:
        parts.append(f"{bytes_text(found.workspace_bytes)} of workspace")
    whole = bytes_text(found.operand_bytes + found.workspace_bytes)
    return f"{whole} of this is there only because cuBLAS computes the products: {' and '.join(parts)}. {instead}"


def _amounts(program: ChipProgram, other: ChipProgram | None, chip: str) -> Amounts:
    mine, theirs = _named(program), {} if other is None or other.fault else _named(other)
    rows = [Amount(name=name, mine=amount, reference=theirs.get(name), whole=None) for name, amount in mine.items()]
    return Amounts(mesh={}, title=f"Bytes of each {chip}", unit="bytes", whole_title="", rows=rows)


def _named(program: ChipProgram) -> dict[str, int]:
    return {
        "arguments": program.argument_bytes,
        "outputs": program.output_bytes,
        "temporaries": program.temporary_bytes,
        "overwritten in place": program.alias_bytes,
        "in the host's memory": program.host_bytes,
    }


def _sent(program: ChipProgram) -> str:
    """The bytes that a chip sends over each link in one call, at most if some are sent in a branch. A collective that
    runs an unknown number of times counts once.
    """
    sent: Counter[str] = Counter()
    at_most: set[str] = set()
    for computation in program.computations:
        for each in computation.collectives:
            sent[each.link] += each.ring_bytes * (1 if computation.executions is None else computation.executions)
            at_most |= {each.link} if computation.conditional else set()
    return " ".join(
        f"Over {link}, a chip sends {'at most ' if link in at_most else ''}{bytes_text(number)}."
        for link, number in sent.items()
    )


def _work(program: ChipProgram) -> Table | None:
    loops = {each.caller for each in program.computations}
    cycles: Counter[int | None] = Counter()
    for each in program.computations:
        for step in each.steps:
            # The cycles of a loop are those of its body, which is a computation of its own.
            if step.cycles and step.name not in loops:
                cycles[step.line] += step.cycles * (each.executions or 1)
    if not cycles:
        return None
    by_estimate = f"{exact_text(program.cycles)} cycles by the compiler's estimate, without collectives"
    return Table(
        title=f"Where the time goes: {by_estimate}",
        columns=columns("Line", "Cycles", "Share", numbers=["Cycles", "Share"]),
        rows=tuple(
            Row(
                (
                    at_lines([line]) if line else Cell("no line"),
                    count(number),
                    Cell(f"{100 * number / program.cycles:.1f} %"),
                ),
                line,
            )
            for line, number in cycles.most_common(_MOST_LINES)
        ),
    )


# The beginnings of the targets of custom calls, and whose code they run.
_LIBRARIES = {
    "__cublas": "cuBLAS",
    "__cudnn": "cuDNN",
    "cusolver": "cuSOLVER",
    "cusparse": "cuSPARSE",
    "cu_": "JAX, a kernel for GPUs",
    "tpu_custom_call": "Pallas, a kernel of the program",
    "pallas.": "Pallas, a kernel of the program",
}
# What is known of a call, by the beginning of its target.
_KNOWN = {
    "__cublas": "arrays and FLOPs",
    "__cudnn$conv": "arrays and FLOPs",
    # cuDNN says on a GPU how much memory its attention needs beside its arrays.
    "__cudnn$fmha": "arrays; neither its FLOPs nor its workspace",
    "": "arrays; its FLOPs are not counted",
}


def _calls(program: ChipProgram) -> Table | None:
    """The calls of libraries and of kernels, which XLA does not look into; None if there are none."""
    found: dict[tuple[str, int | None], int | None] = {}
    for computation in program.computations:
        for step in computation.steps:
            if any(step.target.startswith(each) for each in _LIBRARIES):
                key, before = (step.target, step.line), found.get((step.target, step.line), 0)
                times = computation.executions
                found[key] = None if before is None or times is None else before + times
    if not found:
        return None
    rows = []
    for (target, line), times in found.items():
        library = next(name for beginning, name in _LIBRARIES.items() if target.startswith(beginning))
        known = next(words for beginning, words in _KNOWN.items() if target.startswith(beginning))
        rows.append(Row((code(target), Cell(library), count(times), Cell(known), at_lines([line])), line))
    names = columns("Call", "Library", "Times", "Known", "Where", numbers=["Times"])
    return Table(
        title="Calls of libraries",
        columns=names,
        rows=tuple(rows),
        remarks=("XLA does not look into them, so it knows neither how they compute nor how long they take.",),
    )


def _chip_part(topology: str, number: int, computation: ChipComputation, *, is_gpu: bool) -> ChipPart:
    runs = {None: "an unknown number of times", 1: "once"}.get(
        computation.executions, f"{computation.executions} times"
    )
    at_most = "at most " if computation.conditional and computation.executions is not None else ""
    part = f"Part {number}, in a branch," if computation.conditional else f"Part {number},"
    name = f"{part} which runs {at_most}{runs}" if computation.caller else "The program"
    title = f"{name} on {topology}: the compiler's schedule"
    return ChipPart(
        name=name,
        drawing=draw_schedule(title, computation, has_streams=is_gpu),
        collectives=_collectives(name, computation) if computation.collectives else None,
        copies=_copies(computation.copies) if computation.copies else None,
    )


def _collectives(name: str, computation: ChipComputation) -> Table:
    remarked = zip(computation.collectives, sent_together(computation.collectives), strict=True)
    numbers = ("Times", "Whole tensors", "Sent by each chip")
    return Table(
        title=name,
        columns=columns(
            "Collective", "Over (devices)", "Dtype", *numbers, "Crosses", "Hidden by", "Where", numbers=numbers
        ),
        rows=tuple(_row(each, computation, remark) for each, remark in remarked),
    )


def _row(each: ChipCollective, computation: ChipComputation, remark: str) -> Row:
    arrays = (f"of {len(each.dtypes)} arrays",) if len(each.dtypes) > 1 else ()
    where = ("in a branch",) * computation.conditional
    return Row(
        (
            Cell(label(each.collective), (*where, *arrays)),
            over(each.axes, each.group_size),
            Cell(label(", ".join(dict.fromkeys(each.dtypes)))),
            count(computation.executions, most=computation.conditional),
            size(each.bytes * (computation.executions or 1)),
            size(each.ring_bytes * (computation.executions or 1)),
            Cell(each.link),
            Cell(hidden_text(each) or wait_text(each)),
            at_lines([each.line], remark),
        ),
        each.line,
    )


def _copies(copies: Sequence[ChipCopy]) -> Table:
    """Rows for the largest copies: those of parts of equal shape for one line, with what hides the least hidden one."""
    alike: dict[tuple[str, str, str, int | None], list[ChipCopy]] = {}
    for each in copies:
        alike.setdefault((each.shape, each.source, each.target, each.line), []).append(each)
    ordered = sorted(alike.values(), key=lambda these: -sum(each.bytes for each in these))
    return Table(
        title=copies_text(copies),
        columns=columns("Copy of", "To", "Bytes", "Hidden by, at least", "For", numbers=["Bytes"]),
        rows=tuple(map(_copy_row, ordered[:_MOST_COPIES])),
        remarks=(
            "The largest copies in one execution.",
            *and_more(len(ordered[_MOST_COPIES:]), "that are smaller"),
        ),
    )


def _copy_row(these: Sequence[ChipCopy]) -> Row:
    first = these[0]
    least = min(these, key=lambda each: (each.hidden_cycles, each.hidden_kernels))
    return Row(
        (
            code(f"{len(these)} {TIMES} {first.shape}" if len(these) > 1 else first.shape),
            Cell(first.target),
            size(sum(each.bytes for each in these)),
            Cell(copy_hidden_text(least) or "nothing"),
            at_lines([first.line]),
        ),
        first.line,
    )
