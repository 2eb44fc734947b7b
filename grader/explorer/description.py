"""Describe what a submission compiles to, or why it has no program, as data to store and show."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Literal

from grader.core.chips import CHIPS, Chip
from grader.core.errors import SubmissionFault
from grader.explorer.exploration import (
    ChipCollective,
    ChipComputation,
    ChipCopy,
    ChipLibraryMemory,
    ChipLibraryOperand,
    ChipOption,
    ChipProgram,
    ChipStep,
    Explored,
    ExploredArray,
    ExploredBuffer,
    ExploredCollective,
    ExploredComputation,
    ExploredDifference,
    ExploredFault,
    ExploredInstruction,
    ExploredPeak,
    ExploredProgram,
    LineFLOPs,
)
from grader.explorer.graph_description import describe_graph
from grader.modes.report import fault_line, fault_message
from grader.program import facts
from grader.program.collective_uses import CollectiveUse, LineShare, collectives_of
from grader.program.compared_amounts import ProgramDifference
from grader.program.cover import covers_of
from grader.program.differences import differences
from grader.program.differences_between_chips import differences_between_chips
from grader.program.differences_on_chip import difference_in_products, differences_on_chip
from grader.program.halos import Windowed, halos_of
from grader.program.library_memory import LibraryMemory
from grader.program.listing import ListedComputation
from grader.program.measurement import Measured
from grader.program.on_chip import ChipFacts, OnChip
from grader.program.peak_buffers import PeakBuffers
from grader.program.placed_arrays import PlacedArray
from grader.program.repeated_work import repeated_products, repeated_work
from grader.program.returned_leaves import placed_differently
from grader.program.schedule import ScheduledComputation, ScheduledCopy
from grader.program.shapes import JAX_NAMES
from grader.verdicts.evidence import Amount, Amounts, Leaf, Leaves

# List at most this many for each mesh. The rest are only counted.
MAX_LEAVES = 400
MAX_COLLECTIVES = 400
_MAX_LINES = 100
_LONGEST = 4_000
# Names that releases of JAX give to the primitive of `jax.checkpoint`.
_CHECKPOINT = frozenset({"checkpoint", "remat2"})


def explored(mine: Sequence[Measured], other: Sequence[Measured] = ()) -> Explored:
    """Describe the programs of one source, and how they differ from another source's on the same meshes."""
    pairs = list(zip(mine, other, strict=True)) if other else []
    return Explored(
        programs=[_program(each, *other[number : number + 1]) for number, each in enumerate(mine)],
        against=[_program(each) for each in other],
        differences=[_listed(differences(*pair)) for pair in pairs],
        chip_differences=[_listed(differences_between_chips(*pair)) for pair in pairs],
    )


def _listed(found: Sequence[ProgramDifference]) -> list[ExploredDifference]:
    return [ExploredDifference(**asdict(each)) for each in found]


def fault_of(fault: SubmissionFault, of: Literal["source", "against"]) -> Explored:
    """The result for a source that has no program."""
    message = fault_message(fault)[:_LONGEST]
    compiler = str(fault.detail.get("compiler") or "")
    found = ExploredFault(of=of, reason=fault.reason, message=message, line=fault_line(fault), compiler=compiler)
    return Explored(fault=found)


def _program(measured: Measured, other: Measured | None = None) -> ExploredProgram:
    sides: list[tuple[Literal["in", "out"], str, facts.ProgramLeaf]] = [
        *(("in", path, leaf) for path, leaf in (*measured.state_in, *measured.given)),
        *(("out", path, leaf) for path, leaf in measured.out),
    ]
    uses = collectives_of(measured)
    collectives, rows = _collectives(uses, halos_of(measured))
    return ExploredProgram(
        leaves=Leaves(mesh=measured.mesh, leaves=[_leaf(*each) for each in sides[:MAX_LEAVES]]),
        unlisted_leaves=max(0, len(sides) - MAX_LEAVES),
        memory=_memory(measured, other),
        collectives=collectives,
        unlisted_collectives=len(uses) - len(rows),
        flops=measured.facts.census.dot_flops,
        flops_by_line=_flops_by_line(measured),
        stablehlo=[_computation(each) for each in measured.written.computations] if measured.written else [],
        unlisted_operations=measured.written.left_out if measured.written else 0,
        hlo=[_computation(each) for each in measured.listing.computations] if measured.listing else [],
        unlisted_instructions=measured.listing.left_out if measured.listing else 0,
        retraced=measured.retraced,
        on_chip=None if measured.on_chip is None else _on_chip(measured.on_chip, measured),
        is_only_on_chip=measured.is_only_on_chip,
        remarks=[
            *measured.remarks,
            *placed_differently(measured),
            *repeated_work(measured),
            *repeated_products(measured),
        ],
        arrays=[_array(each) for each in measured.arrays.arrays] if measured.arrays else [],
        unlisted_arrays=measured.arrays.left_out if measured.arrays else 0,
        peak=_peak(measured.peak) if measured.peak else None,
        jaxpr=[_computation(each) for each in measured.jaxpr.computations] if measured.jaxpr else [],
        unlisted_equations=measured.jaxpr.left_out if measured.jaxpr else 0,
        graph=describe_graph(measured, rows),
    )


def _peak(found: PeakBuffers) -> ExploredPeak:
    return ExploredPeak(
        buffers=[ExploredBuffer(**asdict(each) | {"line": each.line or None}) for each in found.buffers],
        unlisted_buffers=found.left_out,
        unlisted_bytes=found.left_out_bytes,
    )


def _array(placed: PlacedArray) -> ExploredArray:
    # Drop line 0, to which no page can link. Only a verifier that a program took over answers with it.
    lists = {"shape": list(placed.shape), "inside": list(placed.inside), "line": placed.line or None}
    return ExploredArray(**asdict(placed) | lists)


def _on_chip(found: OnChip, measured: Measured) -> ChipProgram:
    chip = CHIPS[found.topology.partition(":")[0]]
    program, compiler = found.program, found.compiler or None
    options = [ChipOption(name=each.name, value=each.value, line=each.line or None) for each in found.options]
    if program is None:
        fault = found.fault[:_LONGEST]
        return ChipProgram(
            topology=found.topology, compiler=compiler, hbm_bytes=chip.hbm_bytes, fault=fault, options=options
        )
    schedule = program.schedule
    return ChipProgram(
        topology=found.topology,
        compiler=compiler,
        hbm_bytes=chip.hbm_bytes,
        argument_bytes=program.memory.argument_bytes,
        output_bytes=program.memory.output_bytes,
        temporary_bytes=program.memory.temporary_bytes,
        alias_bytes=program.memory.alias_bytes,
        peak_bytes=program.peak_bytes,
        host_bytes=program.host_bytes,
        for_libraries=None if program.for_libraries is None else _for_libraries(program.for_libraries),
        flops=program.flops,
        cycles=sum(each.cycles or 0 for each in schedule.computations[0].steps) if schedule.computations else 0,
        computations=[_scheduled(each, chip) for each in schedule.computations],
        unlisted_steps=schedule.left_out,
        unlisted_copies=schedule.copies_left_out,
        differences=[] if measured.is_only_on_chip else _differences_on_chip(measured, program, chip),
        options=options,
    )


def _for_libraries(found: LibraryMemory) -> ChipLibraryMemory:
    operands = [ChipLibraryOperand(**asdict(each) | {"line": each.line or None}) for each in found.operands]
    return ChipLibraryMemory(
        workspace_bytes=found.workspace_bytes, operand_bytes=found.operand_bytes, operands=operands
    )


def _differences_on_chip(measured: Measured, program: ChipFacts, chip: Chip) -> list[str]:
    census = measured.facts.census
    recomputes = measured.observed is not None and not _CHECKPOINT.isdisjoint(measured.observed.primitives)
    return [
        *differences_on_chip(census.collectives, measured.mesh, program.schedule, chip),
        *difference_in_products(chip, census.dot_flops, program.flops, recomputes=recomputes),
    ]


def _scheduled(computation: ScheduledComputation, chip: Chip) -> ChipComputation:
    return ChipComputation(
        name=computation.name,
        caller=computation.caller,
        executions=computation.executions,
        steps=[
            ChipStep(name=each.name, cycles=each.cycles, flops=each.flops, line=each.line or None, target=each.target)
            for each in computation.steps
        ],
        collectives=_scheduled_collectives(computation, chip),
        copies=[_copy(computation, each) for each in computation.copies],
        conditional=computation.conditional,
    )


def _copy(computation: ScheduledComputation, copy: ScheduledCopy) -> ChipCopy:
    during = computation.during(copy)
    return ChipCopy(
        shape=copy.shape,
        bytes=copy.bytes,
        source=copy.source,
        target=copy.target,
        line=copy.line or None,
        start=copy.start,
        done=copy.done,
        hidden_cycles=sum(step.cycles or 0 for step in during),
        hidden_kernels=len(during),
    )


def _scheduled_collectives(computation: ScheduledComputation, chip: Chip) -> list[ChipCollective]:
    """Make an entry for each line of each collective."""
    found: list[ChipCollective] = []
    for each, cover in zip(computation.collectives, covers_of(computation, chip.torus), strict=True):
        first = len(found)
        found += [
            ChipCollective(
                collective=each.kind,
                dtypes=list(share.dtypes),
                axes=each.axes,
                group_size=each.group_size,
                bytes=share.logical_bytes,
                ring_bytes=share.ring_bytes,
                link=each.link,
                hidden_kernels=cover.kernels,
                line=share.line or None,
                start=each.start,
                done=each.done,
                hidden_cycles=cover.cycles,
                hidden_flops=cover.flops,
                estimated_cycles=cover.needed,
                hidden_without_estimate=cover.without_estimate,
                queued_cycles=cover.queued,
                is_hidden_long_enough=cover.is_enough,
                sent_with=first if number else None,
            )
            for number, share in enumerate(each.shares)
        ]
    return found


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
    instructions = [ExploredInstruction(text=each.text, line=each.line or None) for each in listed.instructions]
    return ExploredComputation(name=listed.name, caller=listed.caller, instructions=instructions)


def _collectives(
    uses: Sequence[CollectiveUse], halos: Mapping[int, Windowed]
) -> tuple[list[ExploredCollective], dict[int, int]]:
    """Make an entry for each line of each collective, and map each listed collective to its first entry."""
    listed: list[ExploredCollective] = []
    rows: dict[int, int] = {}
    for number, use in enumerate(uses):
        shares = use.by_line
        if len(listed) + len(shares) > MAX_COLLECTIVES:
            break
        first = rows[number] = len(listed)
        listed.append(_collective(use, shares[0], None, halos))
        listed += [_collective(use, share, first, halos) for share in shares[1:]]
    return listed, rows


def _collective(
    use: CollectiveUse, share: LineShare, sent_with: int | None, halos: Mapping[int, Windowed]
) -> ExploredCollective:
    is_partial = use.senders is not None and use.senders < use.devices
    return ExploredCollective(
        collective=use.kind,
        axes=use.axes,
        group_size=use.group_size,
        in_loop=use.in_loop,
        conditional=use.conditional,
        executions=use.executions,
        bytes=share.logical_bytes,
        ring_bytes=share.ring_bytes,
        # Drop line 0, to which no page can link. Only a verifier that a program took over answers with it.
        line=share.line or None,
        sent_with=sent_with,
        constraint_line=use.constraint_line or None,
        consumer_line=use.consumer_line or None,
        kept_of=use.kept_of,
        halo_of=halos.get(share.line or 0) if use.kind == "collective-permute" else None,
        senders=use.senders if is_partial else None,
        devices=use.devices if is_partial else None,
        written_dtypes=[JAX_NAMES.get(dtype, dtype) for dtype in share.written_dtypes],
        written_bytes=share.written_bytes if share.written_dtypes else None,
    )


def _memory(measured: Measured, other: Measured | None) -> Amounts:
    mine, theirs = _amounts(measured), {}
    if other is not None and other.is_only_on_chip == measured.is_only_on_chip:
        theirs = _amounts(other)
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
    in_branches = {dot.source_line for dot in measured.facts.census.dots if dot.conditional}
    for dot in measured.facts.census.dots:
        before = lines.get(dot.source_line, 0)
        known = before is not None and dot.executions is not None
        lines[dot.source_line] = (before or 0) + dot.flops * (dot.executions or 0) if known else None
    ordered = sorted(lines.items(), key=lambda item: -(item[1] or 0))
    return [LineFLOPs(line=line, flops=flops, conditional=line in in_branches) for line, flops in ordered[:_MAX_LINES]]
