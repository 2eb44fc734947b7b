"""What one device holds while it runs a program, as XLA's buffer assignment says."""

from dataclasses import dataclass
from typing import Protocol

from grader.program.strict_json import read, write


class Analysis(Protocol):
    """What `compiled.memory_analysis()` gives, as far as it can be relied on.

    Its `peak_memory_in_bytes` cannot: on CPU it is below the sum of arguments and temporaries.
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
    """Bytes on one device. `alias_bytes` are counted in arguments and in outputs: one buffer for both.

    Outputs include the table of pointers to them, 8 bytes each, where the result is a tuple.
    """

    argument_bytes: int
    output_bytes: int
    temporary_bytes: int
    alias_bytes: int

    def to_json(self) -> dict[str, int]:
        result: dict[str, int] = write(self)
        return result

    @classmethod
    def from_json(cls, value: object) -> "Memory":
        """Read what `to_json` gave. Raises ProgramUnreadable on anything else."""
        return read(cls, value, "memory")


def memory_of(analysis: Analysis) -> Memory:
    """Take the numbers out of XLA's memory analysis."""
    return Memory(
        analysis.argument_size_in_bytes,
        analysis.output_size_in_bytes,
        analysis.temp_size_in_bytes,
        analysis.alias_size_in_bytes,
    )
