"""Facts about an exported program that was compiled for a chip. They are read inside the walls; it is never run."""

from dataclasses import dataclass

from grader.core.xla_options import GivenOption
from grader.program.library_memory import LibraryMemory
from grader.program.memory import Memory
from grader.program.schedule import Schedule
from grader.program.shapes import DTYPES
from grader.program.strict_json import read
from grader.program.tokens import ProgramUnreadable


@dataclass(frozen=True, slots=True)
class ChipFacts:
    """One program on one slice.

    Attributes:
      memory: the memory of one chip, without temporaries that the compiler for TPUs keeps in on-chip memory.
      peak_bytes: the most of a TPU's memory in use at any time, according to the compiler; all that a program allocates
        on a GPU.
      host_bytes: what one chip keeps in the memory of its host.
      flops: the FLOPs of all matrix products on one chip; None if one of them runs an unknown number of times.
      for_libraries: what of its memory only calls of cuBLAS need; None without such calls.
    """

    memory: Memory
    peak_bytes: int
    flops: int | None
    schedule: Schedule
    host_bytes: int = 0
    for_libraries: LibraryMemory | None = None


def from_json(value: object) -> ChipFacts:
    """Read the JSON of `ChipFacts` without trusting it.

    Raises:
      ProgramUnreadable: a field is missing, unknown, of another type, or contradicts another one.
    """
    program = read(ChipFacts, value, "program")
    for computation in program.schedule.computations:
        for each in computation.collectives:
            done = each.start if each.done is None else each.done
            if not each.start <= done < len(computation.steps):
                raise ProgramUnreadable("program: a collective starts after the wait for it, or where no step is")
            if sum(share.logical_bytes for share in each.shares) != each.logical_bytes:
                raise ProgramUnreadable("program: the lines of a collective send other bytes than the collective")
        for copy in computation.copies:
            if not copy.start <= (copy.start if copy.done is None else copy.done) <= len(computation.steps):
                raise ProgramUnreadable("program: a copy starts after the wait for it, or where no step is")
    operands = program.for_libraries.operands if program.for_libraries else ()
    if not DTYPES.issuperset(dtype for each in operands for dtype in (each.given, each.dtype)):
        raise ProgramUnreadable("program: an operand of a library has an unknown dtype")
    return program


@dataclass(frozen=True, slots=True)
class OnChip:
    """The result for one mesh: the program on a slice such as v5e:2x4, or `fault`, a sentence that says why not.

    `tried` is False if nothing was compiled, regardless of the program. `compiler` names the compiler and its version.
    `options` are those of XLA that the person or the source gave it.
    """

    topology: str
    program: ChipFacts | None
    fault: str = ""
    tried: bool = True
    compiler: str = ""
    options: tuple[GivenOption, ...] = ()

    @property
    def where(self) -> str:
        """The slice and its compiler, such as `h100:8 (jax-cuda12-pjrt 0.10.2)`."""
        return f"{self.topology} ({self.compiler})" if self.compiler else self.topology
