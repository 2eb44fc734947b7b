"""Compile a function that belongs to no problem, and measure the program. It is not run, because it has no inputs."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.core.chips import CHIPS, Chip, ChipName
from grader.core.context import Context
from grader.core.errors import SubmissionFault
from grader.core.wire import Argument, ArrayForm, Message
from grader.inputs.explored_function import MAX_DEVICES, Function
from grader.modes.program.export import Export, export
from grader.modes.program.on_chip import measure_on_chip
from grader.modes.program.signatures import Signature
from grader.modes.program.verify import NeedsOwnVerifier, OnlyOnChips, check_outputs, measure
from grader.modes.submission import load_submission
from grader.package.package import Limits, ProgramSpec
from grader.program.measurement import Artifact, Measured, measured_of, mesh_name
from grader.program.tokens import ProgramUnreadable
from grader.sandbox.protocol import RunnerSpec, Sandbox, Warmup

_LIMITS = Limits(time_s=60, wall_s=120, memory_mb=3072, output_mb=16)
_REHEARSAL = """
def warm():
    from grader.runner.export import rehearse

    rehearse(None, [{{"x": {devices}}}], compiled=compiled)
"""
# Runners are kept warm for each number of devices, so only three numbers are used.
_DEVICES = (8, 64, MAX_DEVICES)


@dataclass(frozen=True, slots=True)
class _Programs:
    program: ProgramSpec


def _spec(devices: int) -> RunnerSpec:
    rehearsal = _REHEARSAL.format(devices=devices)
    return RunnerSpec(devices, _LIMITS, Warmup(hashlib.sha256(rehearsal.encode()).hexdigest(), rehearsal))


def inspect_function(
    function: Function,
    sandbox: Sandbox,
    source: str,
    context: Context,
    *,
    names_mesh: bool = True,
    chip: ChipName | None = None,
) -> Measured:
    """Compile a function on its mesh. Raises the errors of `Mode.inspect`.

    Args:
      names_mesh: whether it gets the mesh only if its first parameter is named `mesh`.
      chip: for which a program is compiled that XLA cannot compile for CPUs.
    """
    # Not validated, because a problem has at least two meshes.
    programs = _Programs(ProgramSpec.model_construct(meshes=[function.mesh]))
    args = tuple(
        Argument(shape=each.shape, dtype=each.dtype, spec=each.spec, path=each.name.split("/"))
        for each in function.inputs
    )
    signature = Signature(args, tuple(each.name for each in function.inputs), cases=())
    devices = next(each for each in _DEVICES if function.devices <= each)
    with sandbox.open(_spec(devices), context.stop) as session:
        context.progress("importing")
        load_submission(session, source, function.name)
        context.progress(f"exporting for {mesh_name(function.mesh)}")
        exported = export(session, programs, function.mesh, signature, names_mesh=names_mesh)
    context.progress("compiling")
    for alone in (False, True):
        try:
            with sandbox.verifier(devices, _LIMITS, context.stop, alone=alone) as verifier:
                compiled = measure(verifier, function.mesh, signature, exported, alone=alone, listing=True)
                return compiled.measured
        except NeedsOwnVerifier:
            continue
        except OnlyOnChips as fault:
            if chip is None:
                advice = "To see its program, choose a chip to compile it for."
                raise SubmissionFault(fault.reason, f"{fault} {advice}") from None
            return _only_on_chip(CHIPS[chip], function, args, signature.inputs, exported, sandbox, context, fault)
        except SubmissionFault as fault:
            # An earlier program may have broken this verifier. If a new one also crashes, it is this program's fault.
            if fault.reason != "killed" or alone:
                raise
    raise AssertionError("a verifier of its own serves any program")


def _only_on_chip(
    chip: Chip,
    function: Function,
    args: Sequence[Argument],
    names: tuple[str, ...],
    exported: Export,
    sandbox: Sandbox,
    context: Context,
    reason: OnlyOnChips,
) -> Measured:
    """Measure the program for a chip alone. Raises `SubmissionFault`: there is none either."""
    forms: tuple[ArrayForm, ...] = tuple({"shape": each["shape"], "dtype": each["dtype"]} for each in args)
    artifact = Artifact(exported.artifact, forms, 0)
    on_chip, facts = measure_on_chip(chip, function.mesh, artifact, sandbox, context)
    if on_chip.program is None:
        raise SubmissionFault(reason.reason, f"{reason} {on_chip.where}: {on_chip.fault}")
    raw: Message = {"facts": facts, "init": None, "outputs": list(exported.outputs), "state": []}
    raw |= {"primitives": exported.primitives, "retraced": exported.retraced}
    check_outputs(facts, exported.outputs)
    try:
        measured = measured_of(raw, function.mesh, names)
    except ProgramUnreadable as error:
        raise SubmissionFault("not_exportable", f"The compiled program could not be read: {error}") from None
    return replace(measured, artifact=artifact, on_chip=on_chip, is_only_on_chip=True)
