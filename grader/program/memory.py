"""Read how much memory a program takes on one device, from XLA's buffer assignment."""

from dataclasses import dataclass
from typing import Protocol

from grader.program.strict_json import read, write


class Analysis(Protocol):
    """The fields of `compiled.memory_analysis()` that are reliable.

    `peak_memory_in_bytes` is not: on CPU it is below the sum of arguments and temporaries.
    """

    @property
    def argument_size_in_bytes(self) -> int: ...
    @property
    def output_size_in_bytes(self) -> int: ...
    @property
    def temp_size_in_bytes(self) -> int: ...
    @property
    def alias_size_in_bytes(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes on one device. `alias_bytes` count both as arguments and as outputs, which share the buffer.

    If the result is a tuple, the outputs include its table of pointers, 8 bytes each.
    """

    argument_bytes: int
    output_bytes: int
    temporary_bytes: int
    alias_bytes: int

    def to_json(self) -> dict[str, object]:
        return write(self)

    @classmethod
    def from_json(cls, value: object) -> "Memory":
        """Read the output of `to_json`. Raises ProgramUnreadable on anything else."""
        return read(cls, value, "memory")


def memory_of(analysis: Analysis) -> Memory:
    """Read the numbers from XLA's memory analysis."""
    return Memory(
        analysis.argument_size_in_bytes,
        analysis.output_size_in_bytes,
        analysis.temp_size_in_bytes,
        analysis.alias_size_in_bytes,
    )
