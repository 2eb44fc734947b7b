"""Find the memory that a program for GPUs takes only because cuBLAS computes its products.

cuBLAS has a workspace, and reads whole operands from memory: XLA first writes a converted or a transposed one there.
XLA's own kernels convert and transpose while they multiply, and on a GPU, it may choose one of these.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.program.buffer_assignment import Temporary, covered_bytes
from grader.program.data_graph import Place
from grader.program.hlo import Computation, Instruction, Module
from grader.program.nearby_lines import NearbyLines
from grader.program.shapes import Shape, leaves
from grader.program.tokens import unquoted

_CUBLAS = "__cublas$"
MAX_OPERANDS = 20
# Shorter operands are not worth a sentence.
_LEAST_BYTES = 1 << 10
# What XLA's own kernels compute of an operand, besides slices. They do not scale one by a single number of the program.
_COMPUTED = frozenset("parameter convert bitcast reshape transpose copy broadcast multiply".split())
_WRITING = frozenset("fusion convert transpose copy".split())
_RENAMING = frozenset({"bitcast", "reshape"})


@dataclass(frozen=True, slots=True)
class LibraryOperand:
    """An array that exists only because cuBLAS reads it.

    It is converted from the dtype `given` to `dtype`, or transposed if they are equal. `bytes` are those that it takes
    beyond what XLA's own kernel would read in its place.
    """

    bytes: int
    given: str
    dtype: str
    line: int | None


@dataclass(frozen=True, slots=True)
class LibraryMemory:
    """The bytes of a GPU that only such operands, the largest of which are listed, and workspaces occupy."""

    workspace_bytes: int
    operand_bytes: int
    operands: tuple[LibraryOperand, ...]

    @property
    def bytes(self) -> int:
        return self.workspace_bytes + self.operand_bytes


def library_memory(
    module: Module, temporaries: Sequence[Temporary], source: str = "submission.py"
) -> LibraryMemory | None:
    """Return None if cuBLAS computes nothing here.

    Args:
      module: one in which no computation calls itself.
      temporaries: the arrays in the program's temporary memory.
      source: the name of the file that lines refer to.
    """
    finder = _Finder(module, source)
    if not finder.calls_cublas:
        return None
    found = {name: operand for name, operand in finder.operands() if operand.bytes >= _LEAST_BYTES}
    listed = [found[each.name] for each in temporaries if each.name in found]
    # An operand's bytes beyond what another kernel would read are its last ones.
    kept = [each for each in temporaries if not each.is_workspace]
    rest = [each.shortened(found[each.name].bytes) if each.name in found else each for each in kept]
    everything, without_workspaces = covered_bytes(temporaries), covered_bytes(kept)
    return LibraryMemory(
        workspace_bytes=everything - without_workspaces,
        operand_bytes=without_workspaces - covered_bytes(rest),
        operands=tuple(sorted(listed, key=lambda each: -each.bytes)[:MAX_OPERANDS]),
    )


class _Finder:
    def __init__(self, module: Module, source: str) -> None:
        self._module = module
        self._lines = NearbyLines(module, source)
        self.calls_cublas = any(_is_cublas(each) for _, each in self._all())

    def _all(self) -> Iterator[Place]:
        for computation in self._module.computations.values():
            for each in computation.instructions.values():
                yield computation, each

    def operands(self) -> Iterator[tuple[str, LibraryOperand]]:
        """Yield the name of each array that exists only for cuBLAS, and what it is."""
        for computation, each in self._all():
            if each.opcode in _WRITING and isinstance(each.shape, Shape):
                readers = self._readers((computation, each))
                if readers and all(map(_is_cublas, readers)):
                    found = self._operand(computation, each, each.shape, is_read_once=len(readers) == 1)
                    if found is not None:
                        yield each.name, found

    def _readers(self, place: Place) -> list[Instruction]:
        """The instructions that read an array, under whatever name."""
        waiting, found, seen = [place], [], {place[1].name}
        for each in waiting:
            for around, user in self._lines.graph.used_by(*each):
                if user.opcode not in _RENAMING:
                    found.append(user)
                elif user.name not in seen:
                    seen.add(user.name)
                    waiting.append((around, user))
        return found

    def _operand(
        self, computation: Computation, each: Instruction, shape: Shape, *, is_read_once: bool
    ) -> LibraryOperand | None:
        """The array as an operand that XLA's own kernel would compute itself; None if it would not."""
        parts = [part for _, part in self._lines.graph.inside(each)] or [each]
        slices = [part for part in parts if part.opcode == "dynamic-slice"]
        if len(slices) > 1 or not all(_is_fused(part, parts) for part in parts):
            return None
        given = [computation.operand(each, number) for number in range(len(each.operands))]
        arrays = [array for one in (slices or given) for array in leaves(one.shape) if array.elements == shape.elements]
        if len(arrays) != 1:
            return None
        [read] = arrays
        if read.bytes > shape.bytes:
            # XLA's own kernel reads a larger array only if it is an argument that nothing else reads.
            sole = [one for one in given if one.shape == read and self._is_sole_argument(computation, one)]
            if not (is_read_once and sole):
                return None
        # XLA writes a slice of a larger array as a whole even for its own kernels, but without converting it.
        size = shape.bytes - read.bytes if slices else shape.bytes
        line = self._lines.own(each) or self._lines.of_use(computation, each)
        return LibraryOperand(size, read.dtype, shape.dtype, line)

    def _is_sole_argument(self, computation: Computation, one: Instruction) -> bool:
        is_argument = computation.name == self._module.entry.name and one.opcode == "parameter"
        return is_argument and len(self._readers((computation, one))) == 1


def _is_fused(part: Instruction, parts: Sequence[Instruction]) -> bool:
    """Whether XLA's own kernels compute this part of a fusion themselves."""
    if part.opcode == "dynamic-slice" or all(shape.elements == 1 for shape in leaves(part.shape)):
        return True
    if part.opcode == "broadcast":
        by_name = {each.name: each for each in parts}
        return all(shape.elements > 1 for name in part.operands for shape in leaves(by_name[name].shape))
    return part.opcode in _COMPUTED


def _is_cublas(instruction: Instruction) -> bool:
    target = unquoted("".join(instruction.attributes.get("custom_call_target", ("",))))
    return instruction.opcode == "custom-call" and target.startswith(_CUBLAS)
