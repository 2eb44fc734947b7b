"""Find the arrays that the CPU compiler widens before it sends them, for example from bfloat16 to float32.

Chips send them as they were written.
"""

from collections.abc import Mapping
from dataclasses import replace

from grader.program.collectives import Collective, Part
from grader.program.shapes import Shape
from grader.program.stablehlo import ExportedCollective, ExportedProgram

# The dtypes that CPUs widen, by how their names begin, and what they become.
_FLOATS = ("bf16", "f16", "f8", "f4")
_WIDE_FLOATS = ("f16", "f32")


def with_written_dtypes(found: Collective, exported: ExportedProgram) -> Collective:
    """Fill in the `written_dtype` of each part that the exported program shows to be narrower."""
    if len(found.parts) != len(found.dtypes):
        return found
    alike = [each for each in exported.collectives if each.kind == found.kind]
    is_written = any(each.channel == found.channel for each in alike)
    parts = tuple(
        _narrowed(part, dtype, _dtypes_of(part, found, alike) if is_written else _dtypes_on(part, exported.line_dtypes))
        for part, dtype in zip(found.parts, found.dtypes, strict=True)
    )
    return replace(found, parts=parts)


def _dtypes_of(part: Part, found: Collective, alike: list[ExportedCollective]) -> frozenset[str]:
    """The dtypes of the collectives that a part may have been before it was compiled."""
    # A merged collective has the channel of one of those that it was.
    same = [each for each in alike if len(found.parts) > 1 or each.channel == found.channel]
    if len(_dtypes(same)) > 1:
        same = [each for each in same if each.line == part.source_line]
    return _dtypes(same)


def _dtypes(collectives: list[ExportedCollective]) -> frozenset[str]:
    return frozenset(shape.dtype for each in collectives for shape in each.operands)


def _dtypes_on(part: Part, line_dtypes: Mapping[int, frozenset[str]]) -> frozenset[str]:
    """The dtypes on the line of a collective from the partitioner, which moves what that line computes or uses."""
    return frozenset() if part.source_line is None else line_dtypes.get(part.source_line, frozenset())


def _narrowed(part: Part, compiled: str, written: frozenset[str]) -> Part:
    if len(written) != 1:
        return part
    [dtype] = written
    # The line may also have arrays of another kind than the one sent: the transform of real numbers is complex.
    if not dtype.startswith(_FLOATS) or compiled not in _WIDE_FLOATS:
        return part
    narrow, wide = Shape(dtype, ()).bits, Shape(compiled, ()).bits
    if narrow >= wide:
        return part
    return replace(part, written_dtype=dtype, written_bytes=part.logical_bytes * narrow // wide)
