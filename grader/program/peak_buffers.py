"""List what a device keeps in memory when a program's temporaries take the most.

Source: https://github.com/openxla/xla/blob/main/xla/service/hlo.proto (BufferAssignmentProto)
"""

from collections.abc import Iterator
from dataclasses import dataclass

from grader.program.hlo import Instruction, Module
from grader.program.nearby_lines import NearbyLines
from grader.program.protobuf import fields, packed
from grader.program.shapes import leaves

MAX_BUFFERS = 60
# Reading a longer assignment takes seconds.
_MOST_BYTES = 4 << 20
# Fields of BufferAssignmentProto, and of the messages in it.
_LOGICAL_BUFFER, _ALLOCATION, _PEAK = 1, 3, 5
_ID, _SIZE, _DEFINED_AT, _INSTRUCTION_ID = 1, 2, 3, 4
_INDEX, _IS_THREAD_LOCAL, _IS_PARAMETER, _IS_LIVE_OUT, _IS_CONSTANT = 1, 3, 5, 7, 12
_OF_ALLOCATION, _BUFFERS = 1, 2
# Fields of HloModuleProto.
_COMPUTATION, _INSTRUCTION, _NAME, _UNIQUE_ID = 3, 2, 1, 35


@dataclass(frozen=True, slots=True)
class PeakBuffer:
    """One buffer on a device. `shape` is that of what writes it first, as in HLO; `line` is where that comes from."""

    operation: str
    shape: str
    line: int | None
    bytes: int


@dataclass(frozen=True, slots=True)
class PeakBuffers:
    """The temporaries that exist at the same time when they take the most, the largest first.

    `left_out` counts the smaller ones that are not listed, and `left_out_bytes` is their size.
    """

    buffers: tuple[PeakBuffer, ...]
    left_out: int
    left_out_bytes: int


def peak_buffers(assignment: bytes, module: bytes, hlo: Module, source: str = "submission.py") -> PeakBuffers | None:
    """Read the peak from the serialized buffer assignment of a program.

    Args:
      module: the serialized HloModuleProto, which has the numbers of the instructions.
      hlo: the same module.
    Returns:
      None if it is too long to be read, or has no peak.
    Raises:
      ProgramUnreadable: one of the two is not what it should be.
    """
    if max(len(assignment), len(module)) > _MOST_BYTES:
        return None
    sizes: dict[int, tuple[int, int]] = {}
    temporary: set[int] = set()
    at_peak: list[tuple[int, list[int]]] = []
    for number, message in fields(memoryview(assignment)):
        if isinstance(message, int) or number not in (_LOGICAL_BUFFER, _ALLOCATION, _PEAK):
            continue
        found = dict(fields(message))
        if number == _LOGICAL_BUFFER:
            sizes[_number(found, _ID)] = (_number(found, _SIZE), _instruction_of(found.get(_DEFINED_AT)))
        elif number == _PEAK:
            at_peak.append((_number(found, _OF_ALLOCATION), packed(found.get(_BUFFERS, 0))))
        elif not any(found.get(each) for each in (_IS_THREAD_LOCAL, _IS_PARAMETER, _IS_LIVE_OUT, _IS_CONSTANT)):
            temporary.add(_number(found, _INDEX))
    if not at_peak:
        return None
    numbers = [each for allocation, buffers in at_peak if allocation in temporary for each in buffers]
    ordered = sorted((sizes[each] for each in numbers if each in sizes), key=lambda each: -each[0])
    describe = _Described(module, hlo, source)
    shown = tuple(describe.buffer(*each) for each in ordered[:MAX_BUFFERS])
    rest = ordered[MAX_BUFFERS:]
    return PeakBuffers(shown, len(rest), sum(size for size, _ in rest))


class _Described:
    def __init__(self, module: bytes, hlo: Module, source: str) -> None:
        self._names = dict(_names_of(module))
        self._instructions = {
            name: (computation, each)
            for computation in hlo.computations.values()
            for name, each in computation.instructions.items()
        }
        self._lines = NearbyLines(hlo, source)

    def buffer(self, size: int, number: int) -> PeakBuffer:
        found = self._instructions.get(self._names.get(number, ""))
        if found is None:
            return PeakBuffer("", "", None, size)
        computation, instruction = found
        near = (line for _, line in self._lines.near(computation, instruction))
        line = self._lines.own(instruction) or next(near, None)
        return PeakBuffer(instruction.opcode, _shape_of(instruction, size), line, size)


def _shape_of(instruction: Instruction, size: int) -> str:
    """The shape of a buffer; if it is written by a tuple, that of the element with the buffer's size."""
    shapes = [each for each in leaves(instruction.shape) if each.bytes == size]
    return f"{shapes[0].dtype}[{','.join(map(str, shapes[0].dims))}]" if shapes else ""


def _names_of(module: bytes) -> Iterator[tuple[int, str]]:
    for number, computation in fields(memoryview(module)):
        if number == _COMPUTATION and not isinstance(computation, int):
            for inside, instruction in fields(computation):
                if inside == _INSTRUCTION and not isinstance(instruction, int):
                    found = dict(fields(instruction))
                    name = found.get(_NAME)
                    if not isinstance(name, int) and name is not None:
                        yield _number(found, _UNIQUE_ID), bytes(name).decode("utf-8", "replace")


def _number(found: dict[int, int | memoryview], field: int) -> int:
    # A field that is zero is not written.
    value = found.get(field, 0)
    return value if isinstance(value, int) else 0


def _instruction_of(location: int | memoryview | None) -> int:
    return 0 if location is None or isinstance(location, int) else _number(dict(fields(location)), _INSTRUCTION_ID)
