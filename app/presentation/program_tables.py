"""What a compiled program does, as tables: its collectives, its arrays and its largest buffers."""

import re

from app.core.web.units import bytes_text
from app.presentation.drawings.placement import label
from app.presentation.drawings.timeline import axes_text
from app.presentation.table import Cell, Row, Table, and_more, at_lines, code, columns, count, size
from grader.explorer.exploration import ExploredCollective, ExploredProgram
from grader.explorer.remarks import remarks
from grader.program.shapes import DTYPES as HLO_DTYPES
from grader.program.shapes import Shape
from grader.verdicts.evidence import Axes

_MOST_BUFFERS = 8
# `%sum.1 = f32[8,64] add(a, b)`: the name, the dtype, the dimensions and the operation.
_WRITTEN = re.compile(r"(\S+) = (\w+)\[([\d,]*)\] ([\w-]+)\(")
# These name what another instruction wrote, or what the caller gave.
_WITHOUT_BUFFER = frozenset({"parameter", "get-tuple-element", "bitcast", "tuple", "constant", "while", "call"})


def collectives_table(program: ExploredProgram) -> Table | None:
    """A row for each line of each collective, or None if there is no communication.

    Bytes are those of all executions, or of one if their number is unknown.
    """
    if not program.collectives:
        return None
    numbers = ("Times", "Whole tensors", "Sent by each device")
    rows = zip(program.collectives, remarks(program.collectives), strict=True)
    return Table(
        title="Collectives",
        columns=columns("Collective", "Over (devices)", *numbers, "Where", numbers=numbers),
        rows=tuple(_collective(each, remark) for each, remark in rows),
        remarks=and_more(program.unlisted_collectives),
    )


def over(axes: Axes | None, group_size: int) -> Cell:
    """The axes of the groups of a collective, and the number of devices in each group."""
    return Cell(axes_text(axes) or "no whole axis", (f"({group_size})",))


def whole_bytes(each: ExploredCollective) -> int:
    """Of all executions, or of one if their number is unknown."""
    return each.bytes * (each.executions or 1)


def arrays_table(program: ExploredProgram) -> Table | None:
    """Where each array lives that an operation computes, in program order; None if no arrays are known."""
    if not program.arrays:
        return None
    return Table(
        title="Arrays in between",
        columns=columns("Where", "Operation", "Array", "Spec", "On a device", numbers=["On a device"]),
        rows=tuple(
            Row(
                (
                    at_lines([each.line]),
                    Cell(each.operation, (f"{each.number} alike",) * (each.number > 1)),
                    code(f"{each.dtype}[{', '.join(map(str, each.shape))}]"),
                    code(each.spec, *([f"inside shard_map over {', '.join(each.inside)}"] if each.inside else [])),
                    size(each.bytes),
                ),
                each.line,
            )
            for each in program.arrays
        ),
        heading=1,
        remarks=(
            "As XLA's partitioner Shardy decides before the program is divided.",
            *and_more(program.unlisted_arrays),
        ),
    )


def buffers_table(program: ExploredProgram) -> Table | None:
    """What fills the temporaries at their peak, or else the largest arrays that the program writes; None if neither is
    known.
    """
    rows = _at_peak(program) or _largest_written(program)
    if not rows:
        return None
    if program.peak is None or not program.peak.buffers:
        title = "Largest buffers that it writes"
        notes = ["Arrays on each device. XLA may give several the same memory, one after the other."]
    else:
        title = "What fills the temporaries at their peak"
        notes = ["Buffers on each device that exist at the same time, when temporaries take the most."]
        if program.peak.unlisted_buffers:
            together = bytes_text(program.peak.unlisted_bytes)
            notes.append(f"And {program.peak.unlisted_buffers} smaller ones of {together} together.")
    names = columns("Buffer", "Written by", "Bytes", "Where", numbers=["Bytes"])
    return Table(title=title, columns=names, rows=rows, remarks=tuple(notes))


def _collective(each: ExploredCollective, remark: str) -> Row:
    where = (*("in a branch",) * each.conditional, *("in a loop",) * each.in_loop)
    return Row(
        (
            Cell(label(each.collective), where),
            over(each.axes, each.group_size),
            count(each.executions, most=each.conditional),
            size(whole_bytes(each)),
            size(each.sent_bytes),
            at_lines([each.line], remark),
        ),
        each.line,
    )


def _at_peak(program: ExploredProgram) -> tuple[Row, ...]:
    return tuple(
        Row(
            (code(each.shape or "several arrays"), Cell(each.operation), size(each.bytes), at_lines([each.line])),
            each.line,
        )
        for each in (program.peak.buffers if program.peak else ())
    )


def _largest_written(program: ExploredProgram) -> tuple[Row, ...]:
    """The largest arrays that the program and the bodies of its loops write, the largest first."""
    found: list[tuple[int, Row]] = []
    for computation in program.hlo:
        # Any other computation is fused into its caller and writes no buffer of its own.
        if computation.caller and not computation.caller.startswith("body of"):
            continue
        for each in computation.instructions:
            written = _WRITTEN.search(each.text)
            if written is None or written[4] in _WITHOUT_BUFFER or written[2] not in HLO_DTYPES:
                continue
            shape = Shape(written[2], tuple(int(number) for number in written[3].split(",") if number))
            by = Cell(written[4], (label(written[1]),))
            cells = (code(label(str(shape))), by, size(shape.bytes), at_lines([each.line]))
            found.append((shape.bytes, Row(cells, each.line)))
    return tuple(row for _, row in sorted(found, key=lambda each: -each[0])[:_MOST_BUFFERS])
