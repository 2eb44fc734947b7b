"""Let the compiler for a chip compile a program that was verified on the CPU. The result is never run."""

import math
from collections.abc import Sequence
from dataclasses import replace

from grader.core.chips import CHIPS, Chip, ChipName, compiler_of
from grader.core.context import Context
from grader.core.errors import SubmissionFault
from grader.core.xla_options import GivenOption
from grader.package.package import Limits
from grader.program.measurement import Artifact, Measured, mesh_name
from grader.program.on_chip import OnChip, from_json
from grader.program.tokens import ProgramUnreadable
from grader.sandbox.protocol import RunnerSpec, Sandbox

_LONGEST = 1000
_LIMITS = Limits(time_s=600, wall_s=1200, memory_mb=4096, output_mb=64)


def compile_for(
    chip: Chip,
    measured: Measured,
    sandbox: Sandbox,
    context: Context,
    *,
    background: bool = False,
    options: Sequence[GivenOption] = (),
) -> OnChip:
    """Compile the program for a slice of as many chips as the mesh has devices.

    It is the program that JAX lowered for this platform, if that was exported, or else the verified one for CPUs. A
    verdict takes only the latter: a submission that exports two programs could make the other one look better.

    Errors of the compiler are results, too. Raises only the errors of `Sandbox.open`.

    Args:
      background: run at the lowest priority, because a large program takes minutes.
      options: of XLA, which `grader.modes.program.chip_options` has checked.
    """
    assert measured.artifact is not None
    found, _ = _compile(
        chip, measured.mesh, measured.artifact, sandbox, context, background=background, options=options
    )
    return found


def measure_on_chip(
    chip: Chip,
    mesh: dict[str, int],
    artifact: Artifact,
    sandbox: Sandbox,
    context: Context,
    options: Sequence[GivenOption] = (),
) -> tuple[OnChip, object]:
    """Compile a program that XLA cannot compile for CPUs. Return the result, and the JSON of the program's facts."""
    return _compile(chip, mesh, artifact, sandbox, context, background=True, facts=True, options=options)


def _compile(
    chip: Chip,
    mesh: dict[str, int],
    artifact: Artifact,
    sandbox: Sandbox,
    context: Context,
    *,
    background: bool,
    facts: bool = False,
    options: Sequence[GivenOption] = (),
) -> tuple[OnChip, object]:
    devices = math.prod(mesh.values())
    topology = chip.topology(devices)
    if topology is None:
        *most, last = map(str, chip.shapes)
        fault = f"Not checked: slices here have {', '.join(most)} or {last} chips, not {devices}."
        return OnChip(chip.name, None, fault, tried=False), None
    compiler = compiler_of(chip.platform)
    if compiler is None:
        fault = f"Not checked: the {chip.platform.upper()} compiler is not installed here."
        return OnChip(topology, None, fault, tried=False), None
    if why := artifact.chip_faults.get(chip.lowering):
        refused = f"JAX does not lower this program for it. {why[:_LONGEST]}"
        return OnChip(topology, None, refused, compiler=compiler, options=tuple(options)), None
    program = artifact.for_chips.get(chip.lowering, artifact.program)
    context.progress(f"compiling for {topology}")
    with sandbox.open(RunnerSpec(1, _LIMITS, program=chip.platform, background=background), context.stop) as session:
        try:
            reply = session.compile_for(
                topology,
                mesh,
                program,
                artifact.inputs,
                state=artifact.state,
                facts=facts,
                options={each.name: each.value for each in options},
            )
            found = OnChip(topology, from_json(reply.get("program")), compiler=compiler, options=tuple(options))
            return found, reply.get("facts")
        except ProgramUnreadable as error:
            fault = f"The program for {mesh_name(mesh)} could not be read: {error}"
            return OnChip(topology, None, fault, compiler=compiler, options=tuple(options)), None
        except SubmissionFault as fault:
            return OnChip(topology, None, _said(fault), compiler=compiler, options=tuple(options)), None


def with_chip(
    measured: Measured,
    chip: ChipName | None,
    sandbox: Sandbox,
    context: Context,
    options: Sequence[GivenOption] = (),
) -> Measured:
    """Add the program that `compile_for` makes in the background, if a chip was chosen and has no program yet."""
    if chip is None or measured.on_chip is not None:
        return measured
    on_chip = compile_for(CHIPS[chip], measured, sandbox, context, background=True, options=options)
    return replace(measured, on_chip=on_chip)


def _said(fault: SubmissionFault) -> str:
    if fault.reason == "time_limit":
        return (
            f"The compiler was stopped: it can use {_LIMITS.time_s:g} s of CPU time, and {_LIMITS.wall_s:g} s in all. "
            "If the machine was busy, try again."
        )
    if fault.reason == "killed":
        return (
            "The compiler ended without an answer. This is a fault of XLA, not a mistake in your code. To find the "
            "operation that crashes it, leave out parts of the program until it compiles."
        )
    if fault.reason == "memory_limit":
        return f"The program does not fit on a chip. {fault}"
    words = fault.detail.get("compiler")
    return f"{fault} XLA says: {words}" if words else str(fault)
