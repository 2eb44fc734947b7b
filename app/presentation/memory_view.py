"""Arranges what an explored program keeps in memory: bytes of each device, and its largest buffers."""

import math
import re
from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.units import bytes_text
from app.presentation.drawings.cells import draw_cells, heat_cells, sizes_in_words
from app.presentation.drawings.placement import Mesh, label
from grader.core.item_sizes import LEAF_DTYPES, bytes_of
from grader.explorer.exploration import ExploredProgram
from grader.program.shapes import DTYPES as HLO_DTYPES
from grader.program.shapes import Shape

_MOST_BUFFERS = 8
# `%sum.1 = f32[8,64] add(a, b)`: the name, the dtype, the dimensions and the operation.
_WRITTEN = re.compile(r"(\S+) = (\w+)\[([\d,]*)\] ([\w-]+)\(")
# These name what another instruction wrote, or what the caller gave.
_WITHOUT_BUFFER = frozenset({"parameter", "get-tuple-element", "bitcast", "tuple", "constant", "while", "call"})


@dataclass(frozen=True, slots=True)
class HeatView:
    """The bytes of the inputs on each device, drawn and in words."""

    drawing: Markup
    words: str


@dataclass(frozen=True, slots=True)
class BufferView:
    """An array that an instruction writes on each device, and the line that leads to it."""

    name: str
    operation: str
    shape: str
    bytes: int
    line: int | None


def device_bytes(program: ExploredProgram) -> list[int] | None:
    """The bytes of the inputs that each device holds; None if that is not known of each leaf."""
    devices = math.prod(program.mesh.values())
    total = [0] * devices
    for leaf in program.leaves.leaves:
        if leaf.when == "out":
            continue
        if leaf.got is None or len(leaf.got) != devices or leaf.dtype not in LEAF_DTYPES:
            return None
        for device, slices in enumerate(leaf.got):
            total[device] += bytes_of(math.prod(stop - start for start, stop in slices), leaf.dtype)
    return None if program.unlisted_leaves else total


def arrange_heat(program: ExploredProgram) -> HeatView | None:
    """None without inputs, or if their sizes are not known."""
    mesh, sizes = Mesh.of(program.mesh), device_bytes(program)
    if not sizes or not any(sizes):
        return None
    whole = next((row.whole for row in program.memory.rows if row.whole), None) or max(sizes)
    words = f"{sizes_in_words(sizes)}, of {bytes_text(whole)} in all"
    drawing = draw_cells(mesh, heat_cells(mesh, sizes, whole), f"Bytes of inputs on mesh {mesh}", words)
    return HeatView(drawing, words)


def largest_buffers(program: ExploredProgram) -> tuple[BufferView, ...]:
    """The largest arrays that the program and the bodies of its loops write, the largest first."""
    found = []
    for computation in program.hlo:
        # What is called otherwise is fused into its caller, and writes nothing of its own.
        if computation.caller and not computation.caller.startswith("body of"):
            continue
        for each in computation.instructions:
            written = _WRITTEN.search(each.text)
            if written is None or written[4] in _WITHOUT_BUFFER or written[2] not in HLO_DTYPES:
                continue
            shape = Shape(written[2], tuple(int(size) for size in written[3].split(",") if size))
            found.append(BufferView(label(written[1]), written[4], label(str(shape)), shape.bytes, each.line))
    return tuple(sorted(found, key=lambda each: -each.bytes)[:_MOST_BUFFERS])
