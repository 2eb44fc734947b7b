"""What a submission compiles to, as data to store and show, without a reference, bounds or points."""

from typing import Literal

from pydantic import Field

from grader.core.reasons import Reason
from grader.core.strict_model import StrictModel
from grader.explorer.graph import ExploredGraph, Line
from grader.program.compared_amounts import Kind
from grader.verdicts.evidence import Amounts, Axes, Count, Leaves, Mesh


class ExploredCollective(StrictModel):
    """One collective. `bytes` and `ring_bytes` are those of one execution, as in docs/problems.md.

    `axes` is null if its groups do not run along mesh axes, `executions` is null if the number is unknown, and `line`
    is null if no line of the source led to it. If it is `conditional`, it is in a branch of which another may run
    instead, so `executions` is the most that there can be.

    XLA merges collectives of several lines into one. There is an entry for each of these lines, with its part of the
    bytes; `sent_with` is null in the first, and in the others the number of the first, counted from 0.

    If the partitioner inserted it to move an array to another sharding, `constraint_line` is the line of the sharding
    constraint on that array, and `consumer_line` the one that uses the array, if the program shows them. If all devices
    then gather a whole array and keep a part of it, they keep one of `kept_of` parts.

    If it is a collective-permute that the partitioner inserted because neighbours need the edges of each other's parts,
    the halo, `halo_of` is the operation that needs it.

    In a collective-permute in which not all of the `devices` of its groups send, `senders` do. If the compiler for CPUs
    widened arrays that the program has in `written_dtypes`, chips send `written_bytes` instead of `bytes`.
    """

    collective: str
    axes: Axes | None
    group_size: Count
    in_loop: bool
    conditional: bool
    executions: Count | None
    bytes: Count
    ring_bytes: Count
    line: Line | None
    sent_with: Count | None = None
    constraint_line: Line | None = None
    consumer_line: Line | None = None
    kept_of: Count | None = None
    halo_of: Literal["convolution", "reduce_window"] | None = None
    senders: Count | None = None
    devices: Count | None = None
    written_dtypes: list[str] = Field(default_factory=list)
    written_bytes: Count | None = None

    @property
    def sent_bytes(self) -> int:
        """The bytes that each device sends in all executions, or in one if their number is unknown."""
        return self.ring_bytes * (self.executions or 1)


class LineFLOPs(StrictModel):
    """The FLOPs on one device of the matrix products that a source line leads to; null if unknown.

    If any of these products is in a branch, they are `conditional`: the most that there can be.
    """

    line: Line | None
    flops: Count | None
    conditional: bool = False


class ExploredInstruction(StrictModel):
    """An instruction of a program, and the source line that led to it, if there is one."""

    text: str
    line: Line | None


class ExploredComputation(StrictModel):
    """Instructions in the order in which they run. `caller` says what calls them: empty for the program itself, and
    `function` in an exported program.
    """

    name: str
    caller: str
    instructions: list[ExploredInstruction]


class ChipStep(StrictModel):
    """An instruction that takes time, with everything that it calls. `cycles` is the compiler's estimate, or null.

    `target` is the custom call that it is, such as `cusolver_syevd_ffi`, and empty for XLA's own code.
    """

    name: str
    cycles: Count | None
    flops: Count | None
    line: Line | None
    target: str = ""


class ChipCollective(StrictModel):
    """One execution of a collective in the chip's schedule. Other fields are as in `ExploredCollective`.

    If the compiler merged the collectives of several lines, each line has an entry with its part of the bytes, and the
    other numbers are those of all lines together.

    `start` and `done` are the numbers of the steps that start it and wait for it, equal if it is not asynchronous;
    `done` is null if the wait is not in this computation. `link` is what its slowest hop
    crosses: NVLink, InfiniBand or ICI. `hidden_cycles` and `hidden_flops` are those of the steps in between, and
    `hidden_kernels` counts these that compute, and `hidden_without_estimate` those of them that have no cycles.
    `estimated_cycles` is not the compiler's: what the links need by the documented bandwidth of one dimension of the
    torus (`grader.core.chips.Torus`); null if that is not documented. Before that, they are busy for `queued_cycles`
    with collectives that started earlier. `is_hidden_long_enough` compares the two with `hidden_cycles`; null if one of
    them is not known.
    """

    collective: str
    dtypes: list[str]
    axes: Axes | None
    group_size: Count
    bytes: Count
    ring_bytes: Count
    link: str
    hidden_kernels: Count
    line: Line | None
    start: Count
    done: Count | None
    hidden_cycles: Count
    hidden_flops: Count | None
    estimated_cycles: Count | None
    hidden_without_estimate: Count
    queued_cycles: Count
    is_hidden_long_enough: bool | None
    sent_with: Count | None = None


class ChipCopy(StrictModel):
    """An asynchronous copy between the memories of a TPU: `bytes` of the `shape` in HLO from `source` to `target`.

    It is in flight from before the step `start` to before the step `done`, which is null if the wait is not in this
    computation. `hidden_cycles` are those of the steps that compute meanwhile, and `hidden_kernels` counts these.
    `line` is the nearest one that uses it.
    """

    shape: str
    bytes: Count
    source: str
    target: str
    line: Line | None
    start: Count
    done: Count | None
    hidden_cycles: Count
    hidden_kernels: Count


class ChipComputation(StrictModel):
    """The program, the body of a loop or a branch, with steps in scheduled order. `caller` is empty for the program. If
    it is `conditional`, it is a branch or in one, so that `executions` is the most that there can be.
    """

    name: str
    caller: str
    executions: Count | None
    steps: list[ChipStep]
    collectives: list[ChipCollective]
    copies: list[ChipCopy]
    conditional: bool = False


class ChipLibraryOperand(StrictModel):
    """An operand that XLA converts from the dtype `given` to `dtype` for cuBLAS, or transposes if they are equal."""

    bytes: Count
    given: str
    dtype: str
    line: Line | None


class ChipLibraryMemory(StrictModel):
    """What is in the memory of a GPU only because cuBLAS computes the products: its workspaces and its operands that
    XLA's own kernels would convert or transpose while they multiply. The largest of these are listed.
    """

    workspace_bytes: Count
    operand_bytes: Count
    operands: list[ChipLibraryOperand]


class ChipOption(StrictModel):
    """An option of XLA. `line` of the source sets it; null if it was chosen beside the source."""

    name: str
    value: str
    line: Line | None


class ChipProgram(StrictModel):
    """The same exported program, compiled for a slice; numbers are those of one chip. `fault` says why there is none.

    Attributes:
      compiler: its name and version.
      options: those of XLA that differ from what the compiler is given anyway.
      peak_bytes: the most of a chip's memory, `hbm_bytes`, that is in use at any time.
      host_bytes: what one chip keeps in the memory of its host.
      temporary_bytes: without temporaries that the compiler keeps in on-chip memory.
      for_libraries: the part of `peak_bytes` that only calls of cuBLAS need; null without such calls.
      cycles: the compiler's estimate for all steps. It has none for collectives, so this does not estimate the time.
      differences: one sentence for each difference from the CPU's program.
    """

    topology: str
    compiler: str | None
    hbm_bytes: Count
    fault: str | None = None
    argument_bytes: Count = 0
    output_bytes: Count = 0
    temporary_bytes: Count = 0
    alias_bytes: Count = 0
    peak_bytes: Count = 0
    host_bytes: Count = 0
    for_libraries: ChipLibraryMemory | None = None
    flops: Count | None = None
    cycles: Count = 0
    computations: list[ChipComputation] = Field(default_factory=list)
    unlisted_steps: Count = 0
    unlisted_copies: Count = 0
    differences: list[str] = Field(default_factory=list)
    options: list[ChipOption] = Field(default_factory=list)


class ExploredArray(StrictModel):
    """Arrays that are alike inside the program: results of one operation at one line.

    `shape` is that of the whole array, or of a device's part in a `shard_map` over the axes `inside`. `spec` says which
    axes split each dimension, `bytes` is what a device holds of one array, and `number` counts those that are alike.
    """

    line: Line | None
    operation: str
    shape: list[Count]
    dtype: str
    spec: str
    inside: list[str]
    bytes: Count
    number: Count


class ExploredBuffer(StrictModel):
    """A temporary of a device: what writes it first, its shape as in HLO, or "" for several, and its bytes."""

    operation: str
    shape: str
    line: Line | None
    bytes: Count


class ExploredPeak(StrictModel):
    """The temporaries that exist at the same time when they take the most, the largest first. The smaller ones are only
    counted, with the bytes of all of them.
    """

    buffers: list[ExploredBuffer]
    unlisted_buffers: Count
    unlisted_bytes: Count


class ExploredProgram(StrictModel):
    """The program for one mesh.

    Attributes:
      leaves: the leaves of the state, the inputs and the outputs, without expectations.
      unlisted_leaves, unlisted_collectives: how many are left out.
      flops: the FLOPs of all matrix products on one device; null if unknown.
      stablehlo: the functions of the exported program, `main` first, which compute with whole arrays.
      hlo: the computations of the compiled program, callers before what they call.
      unlisted_operations, unlisted_instructions: how many are left out of each.
      retraced: whether a second call with inputs of the same shapes was traced again. The process that ran the source
        observed it, so it is not verified.
      on_chip: null unless the program was also compiled for chips.
      is_only_on_chip: whether XLA cannot compile it for CPUs, so that all numbers are those of the program for chips.
      remarks: sentences on what the program is not as its source says, and on leaves that come back placed differently,
        and on costly work that every device repeats.
      arrays: where each array lives that an operation computes, in program order, as Shardy decides before XLA
        partitions the program; without scalars and constants. `unlisted_arrays` counts those that are left out.
      peak: null if it is not known.
      jaxpr: what JAX traced, with types, shardings and the axes over which values vary; for a function that belongs to
        no problem. The process that ran the source printed it, so it is not verified. `unlisted_equations` counts the
        rows that are left out.
      graph: the dataflow of the compiled program; null if XLA compiles it for chips alone, or if it is too large to
        follow.
    """

    leaves: Leaves
    unlisted_leaves: Count
    memory: Amounts
    collectives: list[ExploredCollective]
    unlisted_collectives: Count
    flops: Count | None
    flops_by_line: list[LineFLOPs]
    stablehlo: list[ExploredComputation]
    unlisted_operations: Count
    hlo: list[ExploredComputation]
    unlisted_instructions: Count
    retraced: bool
    on_chip: ChipProgram | None
    is_only_on_chip: bool
    remarks: list[str]
    arrays: list[ExploredArray]
    unlisted_arrays: Count
    peak: ExploredPeak | None
    jaxpr: list[ExploredComputation]
    unlisted_equations: Count
    graph: ExploredGraph | None

    @property
    def mesh(self) -> Mesh:
        return self.leaves.mesh


class ExploredDifference(StrictModel):
    """One difference from the program that it is compared with. `line` is a line of the first source."""

    kind: Kind
    text: str
    line: Line | None


class ExploredFault(StrictModel):
    """Why there is no program. `reason` is null if the grader failed.

    `compiler` is the text of an error inside XLA, or empty.
    """

    of: Literal["source", "against"]
    reason: Reason | None
    message: str
    line: Line | None
    compiler: str = ""


class Explored(StrictModel):
    """The result of an exploration: programs in the problem's order of meshes, or the fault.

    With a second source, `against` and `differences` have one entry per mesh; otherwise they are empty.
    `chip_differences` are those of the programs for chips, also with one entry per mesh.
    """

    schema_version: Literal[1] = 1
    programs: list[ExploredProgram] = Field(default_factory=list)
    against: list[ExploredProgram] = Field(default_factory=list)
    differences: list[list[ExploredDifference]] = Field(default_factory=list)
    chip_differences: list[list[ExploredDifference]] = Field(default_factory=list)
    fault: ExploredFault | None = None
