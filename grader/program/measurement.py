"""One program on one mesh: its facts and its runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.core.errors import GraderFault
from grader.core.wire import Array, ArrayForm
from grader.program.facts import ProgramFacts, ProgramLeaf, from_json
from grader.program.listing import Listing
from grader.program.on_chip import OnChip
from grader.program.peak_buffers import PeakBuffers
from grader.program.placed_arrays import PlacedArrays
from grader.program.program_graph import ProgramGraph

Leaves = dict[str, Array]


@dataclass(frozen=True, slots=True)
class Artifact:
    """An exported program to compile again: its bytes, and the form of each input. The first `state` are donated.

    `for_chips` is the same program as JAX lowers it for the platforms of chips (`grader.core.chips.Lowering`), and
    `chip_faults` says why there is none for one.
    """

    program: Array
    inputs: tuple[ArrayForm, ...]
    state: int
    for_chips: Mapping[str, Array] = field(default_factory=dict)
    chip_faults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observed:
    """What the process that traced a function reports about it, unverified.

    Attributes:
      primitives: the number of equations of each primitive, in all jaxprs.
      retraced: whether a second call, on the outputs of the first, is traced again.
    """

    primitives: dict[str, int]
    retraced: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """One program on one mesh. Paths name the leaves of `facts` in order; `init` has the facts of `init`'s program.

    `observed` is None for the program of a submission, whose verdict rests on verified facts alone. `listing` (the
    compiled program), `written` (the exported one), `arrays`, `peak` and `graph` are None unless requested; `on_chip`
    is None unless it was compiled for a slice, too; `artifact` is None if the program was read from disk. If XLA cannot
    compile the program for CPUs, it `is_only_on_chip`, and `facts` are those of the program for the slice. `remarks`
    are sentences on differences from the source. They and the `jaxpr` of a function that belongs to no problem come
    from the process that ran it.
    """

    mesh: dict[str, int]
    facts: ProgramFacts
    init: ProgramFacts | None
    state: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    observed: Observed | None = None
    listing: Listing | None = None
    written: Listing | None = None
    artifact: Artifact | None = None
    on_chip: OnChip | None = None
    is_only_on_chip: bool = False
    remarks: tuple[str, ...] = ()
    jaxpr: Listing | None = None
    arrays: PlacedArrays | None = None
    peak: PeakBuffers | None = None
    graph: ProgramGraph | None = None

    @property
    def state_in(self) -> list[tuple[str, ProgramLeaf]]:
        return list(zip(self.state, self.facts.inputs, strict=False))

    @property
    def given(self) -> list[tuple[str, ProgramLeaf]]:
        """The inputs other than the state."""
        return list(zip(self.inputs, self.facts.inputs[len(self.state) :], strict=True))

    @property
    def out(self) -> list[tuple[str, ProgramLeaf]]:
        return list(zip(self.outputs, self.facts.outputs, strict=True))

    @property
    def retraced(self) -> bool:
        """Whether a second call is traced again: verified in a submission's program, observed in another function."""
        return self.observed.retraced if self.observed else bool(self.facts.retraced)

    @property
    def needed_bytes(self) -> int:
        """The most bytes that a device holds while the program runs, according to its compiler."""
        memory = self.facts.memory
        held = memory.argument_bytes + memory.output_bytes - memory.alias_bytes + memory.temporary_bytes
        return held + self.facts.census.constant_bytes

    def state_bytes(self, device: int) -> int:
        return sum(leaf.held_bytes(device) for _, leaf in self.state_in)


# Called with the first program of a source as soon as it is verified, while others are still being compiled.
OnFirst = Callable[[Measured], None]


@dataclass(frozen=True, slots=True)
class Run:
    """What a program computed for one case: its initial state, and the leaves of each step.

    `replicas` has one dict per step: the leaves whose replicas wrongly differ, as another device holds them.
    """

    init: Leaves
    steps: tuple[Leaves, ...]
    replicas: tuple[Leaves, ...]


def measured_of(raw: dict[str, Any], mesh: dict[str, int], inputs: tuple[str, ...]) -> Measured:
    """Read raw facts.

    Raises:
      ProgramUnreadable: the facts do not have the right form.
      GraderFault: the facts do not fit the program.
    """
    facts = from_json(raw["facts"])
    init = from_json(raw["init"]) if raw["init"] is not None else None
    state, outputs = tuple(raw["state"]), tuple(raw["outputs"])
    if len(facts.inputs) != len(state) + len(inputs) or len(facts.outputs) != len(outputs):
        raise GraderFault("a verifier's facts do not fit the program")
    if init is not None and len(init.outputs) != len(state):
        raise GraderFault("a verifier's facts of `init` do not fit its state")
    return Measured(mesh, facts, init, state, inputs, outputs)


def mesh_name(mesh: dict[str, int]) -> str:
    """Name a mesh by its axes: `fsdp=8` or `data=2, fsdp=4`."""
    return ", ".join(f"{axis}={size}" for axis, size in mesh.items())
