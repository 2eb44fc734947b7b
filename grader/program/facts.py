"""All facts about one compiled program on one mesh, as a verifier measured them.

They come as JSON from a process that ran a hostile program, so they are read strictly: a missing or unknown field, or a
value of another type, is an error, and an error is never a pass.
"""

import math
from dataclasses import dataclass

from grader.core.item_sizes import LEAF_DTYPES, bytes_of
from grader.program.census import Census
from grader.program.census import from_json as census_from_json
from grader.program.memory import Memory
from grader.program.strict_json import read, write
from grader.program.tokens import ProgramUnreadable

# [start, stop) of one dimension.
Extent = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ProgramLeaf:
    """One array of the program.

    Attributes:
      spec: text for people. Checks compare `slices`.
      placed: whether the program sets its sharding.
      slices: the part on each device, in the mesh's row-major order; one extent per dimension.
    """

    shape: tuple[int, ...]
    dtype: str
    spec: str
    placed: bool
    slices: tuple[tuple[Extent, ...], ...]

    @property
    def whole_bytes(self) -> int:
        return bytes_of(math.prod(self.shape), self.dtype)

    def held_bytes(self, device: int) -> int:
        """The bytes of the part that a device holds."""
        return bytes_of(math.prod(stop - start for start, stop in self.slices[device]), self.dtype)


@dataclass(frozen=True, slots=True)
class WrittenCollective:
    """A collective as the submission wrote it. On CPU, the compiled one may have another dtype.

    Attributes:
      channel: the number that it keeps when it is compiled.
      operand_bytes: the bytes of all operands on one device, over all calls from inside a shard_map.
    """

    kind: str
    dtypes: tuple[str, ...]
    channel: int | None
    operand_bytes: int


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """One program. Leaves are in the program's order: state before inputs, and new state before the loss.

    Attributes:
      written: the collectives in the exported program, without those that the partitioner inserts later.
      products_outside: how many matrix products of the exported program are outside every shard_map, where the
        partitioner decides what each device computes.
      donated: how many arguments it donates.
      operations: how often each operation occurs in the text of the exported program.
      written_turns: the kinds of collectives that take turns with a product of their round in the exported program.
      unstated_products: how many matrix products of the exported program do not state the sharding of their result in
        the next operation, as JAX does for each operation on Explicit axes.
      retraced: whether a second step, on the state that the first one returned, is traced again; None if the program of
        two steps was not exported.
      rounded: (output, input) where the output has elements of the input, all of them rounded in the exported program.
    """

    devices: int
    inputs: tuple[ProgramLeaf, ...]
    outputs: tuple[ProgramLeaf, ...]
    memory: Memory
    census: Census
    written: tuple[WrittenCollective, ...]
    products_outside: int
    donated: int
    operations: tuple[tuple[str, int], ...]
    written_turns: tuple[str, ...]
    unstated_products: int
    retraced: bool | None
    rounded: tuple[tuple[int, int], ...]


def to_json(facts: ProgramFacts) -> dict[str, object]:
    """Convert the facts to values that `json.dumps` takes."""
    return write(facts)


def from_json(value: object) -> ProgramFacts:
    """Read the output of `to_json` without trusting it.

    Raises:
      ProgramUnreadable: a field is missing, unknown, of another type, or contradicts another one.
    """
    facts = read(ProgramFacts, value, "facts")
    assert isinstance(value, dict)
    census_from_json(value["census"])
    for output, given in facts.rounded:
        if not (0 <= output < len(facts.outputs) and 0 <= given < len(facts.inputs)):
            raise ProgramUnreadable("facts: a rounded input or output is not one of the program's")
    for leaf in (*facts.inputs, *facts.outputs):
        if leaf.dtype not in LEAF_DTYPES:
            raise ProgramUnreadable(f"facts: a leaf has the dtype {leaf.dtype[:40]}, which no leaf can have")
        if len(leaf.slices) != facts.devices:
            raise ProgramUnreadable("facts: a leaf does not have one slice per device")
        for held in leaf.slices:
            if len(held) != len(leaf.shape) or any(
                not 0 <= start <= stop <= size for (start, stop), size in zip(held, leaf.shape, strict=True)
            ):
                raise ProgramUnreadable("facts: a slice does not fit its leaf's shape")
    return facts
