"""Describe what a submission compiles to, as data to store and show, without a reference, bounds or points."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from grader.core.chips import CHIPS
from grader.core.errors import SubmissionFault
from grader.core.reasons import Reason
from grader.core.strict_model import Closed
from grader.modes.report import fault_message
from grader.program import facts
from grader.program.collective_uses import CollectiveUse, collectives_of
from grader.program.differences import Kind, differences
from grader.program.differences_on_chip import differences_on_chip
from grader.program.listing import ListedComputation
from grader.program.measurement import Measured
from grader.program.on_chip import OnChip
from grader.program.schedule import ScheduledComputation, total
from grader.verdicts.evidence import Amount, Amounts, Axes, Count, Leaf, Leaves, Mesh

# The most that are listed for each mesh. The rest are only counted.
MAX_LEAVES = 400
MAX_COLLECTIVES = 400
_MAX_LINES = 100
_LONGEST = 4_000
Line = Annotated[int, Field(ge=1)]


class ExploredCollective(Closed):
    """One collective. `bytes` and `ring_bytes` are those of one execution, as in docs/problems.md.

    `axes` is null if its groups do not run along mesh axes, `executions` is null if the number is unknown, and `line`
    is null if no line of the source led to it.
    """

    collective: str
    axes: Axes | None
    group_size: Count
    in_loop: bool
    executions: Count | None
    bytes: Count
    ring_bytes: Count
    line: Line | None


class LineFLOPs(Closed):
    """The FLOPs on one device of the matrix products that a source line leads to; null if unknown."""

    line: Line | None
    flops: Count | None


class ExploredInstruction(Closed):
    """An instruction of a program, and the source line that led to it, if there is one."""

    text: str
    line: Line | None


class ExploredComputation(Closed):
    """Instructions in the order in which they run. `caller` says what calls them: empty for the program itself, and
    `function` in an exported program.
    """

    name: str
    caller: str
    instructions: list[ExploredInstruction]


class ChipStep(Closed):
    """An instruction that takes time, with everything that it calls. `cycles` is the compiler's estimate, or null."""

    name: str
    cycles: Count | None
    flops: Count | None
    line: Line | None


class ChipCollective(Closed):
    """One execution of a collective in the chip's schedule. Other fields are as in `ExploredCollective`.

    `start` and `done` are the numbers of the steps that start it and wait for it, equal if it is not asynchronous;
    `done` is null if the wait is not in this computation. `link` is what its slowest hop
    crosses: NVLink, InfiniBand or ICI. `hidden_cycles` and `hidden_flops` are those of the steps in between, and
    `hidden_kernels` counts these.
    """

    collective: str
    dtypes: list[str]
    axes: Axes | None
    group_size: Count
    bytes: Count
    ring_bytes: Count
    # Explorations that are older than these two fields, for TPUs alone, have none.
    link: str = "ICI"
    hidden_kernels: Count = 0
    line: Line | None
    start: Count
    done: Count | None
    hidden_cycles: Count
    hidden_flops: Count | None


class ChipComputation(Closed):
    """The program or the body of a loop, with steps in scheduled order. `caller` is empty for the program."""

    name: str
    caller: str
    executions: Count | None
    steps: list[ChipStep]
    collectives: list[ChipCollective]


class ChipProgram(Closed):
    """The same exported program, compiled for a slice; numbers are those of one chip. `fault` says why there is none.

    Attributes:
      compiler: its name and version.
      peak_bytes: the most of a chip's memory, `hbm_bytes`, that is in use at any time.
      temporary_bytes: without temporaries that the compiler keeps in on-chip memory.
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
    flops: Count | None = None
    cycles: Count = 0
    computations: list[ChipComputation] = Field(default_factory=list)
    unlisted_steps: Count = 0
    differences: list[str] = Field(default_factory=list)


class ExploredProgram(Closed):
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
    """

    leaves: Leaves
    unlisted_leaves: Count
    memory: Amounts
    collectives: list[ExploredCollective]
    unlisted_collectives: Count
    flops: Count | None
    flops_by_line: list[LineFLOPs]
    # Explorations that are older than this field have none.
    stablehlo: list[ExploredComputation] = Field(default_factory=list)
    unlisted_operations: Count = 0
    hlo: list[ExploredComputation] = Field(default_factory=list)
    unlisted_instructions: Count = 0
    retraced: bool
    # Explorations that are older than the compiler for GPUs have it as `tpu`.
    on_chip: ChipProgram | None = Field(default=None, validation_alias=AliasChoices("on_chip", "tpu"))
    is_only_on_chip: bool = False

    @property
    def mesh(self) -> Mesh:
        return self.leaves.mesh


class ExploredDifference(Closed):
    """One difference from the program that it is compared with. `line` is a line of the first source."""

    kind: Kind
    text: str
    line: Line | None


class ExploredFault(Closed):
    """Why there is no program. `reason` is null if the grader failed."""

    of: Literal["source", "against"]
    reason: Reason | None
    message: str
    line: Line | None


class Explored(Closed):
    """The result of an exploration: programs in the problem's order of meshes, or the fault.

    With a second source, `against` and `differences` have one entry per mesh; otherwise they are empty.
    """

    schema_version: Literal[1] = 1
    programs: list[ExploredProgram] = Field(default_factory=list)
    against: list[ExploredProgram] = Field(default_factory=list)
    differences: list[list[ExploredDifference]] = Field(default_factory=list)
    fault: ExploredFault | None = None


def explored(mine: Sequence[Measured], other: Sequence[Measured] = ()) -> Explored:
    """Describe the programs of one source, and how they differ from another source's on the same meshes."""
    found = [differences(this, that) for this, that in zip(mine, other, strict=True)] if other else []
    return Explored(
        programs=[_program(each, *other[number : number + 1]) for number, each in enumerate(mine)],
        against=[_program(each) for each in other],
        differences=[[ExploredDifference(**asdict(each)) for each in these] for these in found],
    )


def fault_of(fault: SubmissionFault, of: Literal["source", "against"]) -> Explored:
    """The result for a source that has no program."""
    line = fault.detail.get("line")
    known = line if isinstance(line, int) and line > 0 else None
    return Explored(
        fault=ExploredFault(of=of, reason=fault.reason, message=fault_message(fault)[:_LONGEST], line=known)
    )


def _program(measured: Measured, other: Measured | None = None) -> ExploredProgram:
    sides: list[tuple[Literal["in", "out"], str, facts.ProgramLeaf]] = [
        *(("in", path, leaf) for path, leaf in (*measured.state_in, *measured.given)),
        *(("out", path, leaf) for path, leaf in measured.out),
    ]
    uses = collectives_of(measured)
    return ExploredProgram(
        leaves=Leaves(mesh=measured.mesh, leaves=[_leaf(*each) for each in sides[:MAX_LEAVES]]),
        unlisted_leaves=max(0, len(sides) - MAX_LEAVES),
        memory=_memory(measured, other),
        collectives=[_collective(each) for each in uses[:MAX_COLLECTIVES]],
        unlisted_collectives=max(0, len(uses) - MAX_COLLECTIVES),
        flops=measured.facts.census.dot_flops,
        flops_by_line=_flops_by_line(measured),
        stablehlo=[_computation(each) for each in measured.written.computations] if measured.written else [],
        unlisted_operations=measured.written.left_out if measured.written else 0,
        hlo=[_computation(each) for each in measured.listing.computations] if measured.listing else [],
        unlisted_instructions=measured.listing.left_out if measured.listing else 0,
        retraced=measured.retraced,
        on_chip=None if measured.on_chip is None else _on_chip(measured.on_chip, measured),
        is_only_on_chip=measured.is_only_on_chip,
    )


def _on_chip(found: OnChip, measured: Measured) -> ChipProgram:
    chip = CHIPS[found.topology.partition(":")[0]]
    program, compiler = found.program, found.compiler or None
    if program is None:
        fault = found.fault[:_LONGEST]
        return ChipProgram(topology=found.topology, compiler=compiler, hbm_bytes=chip.hbm_bytes, fault=fault)
    schedule = program.schedule
    of_host = measured.facts.census.collectives
    return ChipProgram(
        topology=found.topology,
        compiler=compiler,
        hbm_bytes=chip.hbm_bytes,
        argument_bytes=program.memory.argument_bytes,
        output_bytes=program.memory.output_bytes,
        temporary_bytes=program.memory.temporary_bytes,
        alias_bytes=program.memory.alias_bytes,
        peak_bytes=program.peak_bytes,
        flops=program.flops,
        cycles=sum(each.cycles or 0 for each in schedule.computations[0].steps) if schedule.computations else 0,
        computations=[_scheduled(each) for each in schedule.computations],
        unlisted_steps=schedule.left_out,
        differences=[] if measured.is_only_on_chip else differences_on_chip(of_host, measured.mesh, schedule, chip),
    )


def _scheduled(computation: ScheduledComputation) -> ChipComputation:
    return ChipComputation(
        name=computation.name,
        caller=computation.caller,
        executions=computation.executions,
        steps=[
            ChipStep(name=each.name, cycles=each.cycles, flops=each.flops, line=each.line or None)
            for each in computation.steps
        ],
        collectives=[
            ChipCollective(
                collective=each.kind,
                dtypes=list(each.dtypes),
                axes=each.axes,
                group_size=each.group_size,
                bytes=each.logical_bytes,
                ring_bytes=each.ring_bytes,
                link=each.link,
                hidden_kernels=computation.kernels_between(each),
                line=each.line or None,
                start=each.start,
                done=each.done,
                hidden_cycles=sum(step.cycles or 0 for step in computation.between(each)),
                hidden_flops=total(step.flops for step in computation.between(each)),
            )
            for each in computation.collectives
        ],
    )


def _leaf(when: Literal["in", "out"], path: str, leaf: facts.ProgramLeaf) -> Leaf:
    return Leaf(
        path=path,
        when=when,
        shape=leaf.shape,
        dtype=leaf.dtype,
        ok=True,
        expected_spec=leaf.spec,
        got_spec=leaf.spec,
        expected=leaf.slices,
        got=leaf.slices,
    )


def _computation(listed: ListedComputation) -> ExploredComputation:
    # A verifier that a program took over could answer with line 0, to which no page can link.
    instructions = [ExploredInstruction(text=each.text, line=each.line or None) for each in listed.instructions]
    return ExploredComputation(name=listed.name, caller=listed.caller, instructions=instructions)


def _collective(use: CollectiveUse) -> ExploredCollective:
    return ExploredCollective(
        collective=use.kind,
        axes=use.axes,
        group_size=use.group_size,
        in_loop=use.in_loop,
        executions=use.executions,
        bytes=use.logical_bytes,
        ring_bytes=use.ring_bytes,
        line=use.line,
    )


def _memory(measured: Measured, other: Measured | None) -> Amounts:
    mine, theirs = _amounts(measured), _amounts(other) if other else {}
    inputs = sum(leaf.whole_bytes for leaf in measured.facts.inputs)
    return Amounts(
        mesh=measured.mesh,
        title="Bytes on the fullest device",
        unit="bytes",
        whole_title="replicated",
        rows=[
            Amount(name=name, mine=amount, reference=theirs.get(name), whole=inputs if name == "arguments" else None)
            for name, amount in mine.items()
        ],
    )


def _amounts(measured: Measured) -> dict[str, int]:
    memory = measured.facts.memory
    return {
        "arguments": memory.argument_bytes,
        "outputs": memory.output_bytes,
        "temporaries": memory.temporary_bytes,
        "constants": measured.facts.census.constant_bytes,
        "overwritten in place": memory.alias_bytes,
    }


def _flops_by_line(measured: Measured) -> list[LineFLOPs]:
    """The FLOPs of each source line, the most expensive lines first."""
    lines: dict[int | None, int | None] = {}
    for dot in measured.facts.census.dots:
        before = lines.get(dot.source_line, 0)
        known = before is not None and dot.executions is not None
        lines[dot.source_line] = (before or 0) + dot.flops * (dot.executions or 0) if known else None
    ordered = sorted(lines.items(), key=lambda item: -(item[1] or 0))
    return [LineFLOPs(line=line, flops=flops) for line, flops in ordered[:_MAX_LINES]]
