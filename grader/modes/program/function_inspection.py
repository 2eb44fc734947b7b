"""Compile a function that belongs to no problem, and measure the program. It is not run, because it has no inputs."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from grader.core.chips import CHIPS, Chip, ChipName
from grader.core.context import Context
from grader.core.errors import SubmissionFault
from grader.inputs.explored_function import MAX_DEVICES, Function
from grader.modes.program.chip_options import ChosenOptions, choose_options
from grader.modes.program.function_export import FunctionExport, export_function
from grader.modes.program.on_chip import measure_on_chip, with_chip
from grader.modes.program.verify import NeedsOwnVerifier, OnlyOnChips, check_outputs, compiled_and_read
from grader.modes.submission import load_submission
from grader.package.package import Limits
from grader.program.measurement import Measured, OnFirst, measured_of, mesh_name
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


def _spec(devices: int) -> RunnerSpec:
    rehearsal = _REHEARSAL.format(devices=devices)
    return RunnerSpec(devices, _LIMITS, Warmup(hashlib.sha256(rehearsal.encode()).hexdigest(), rehearsal))


def inspect_function(
    function: Function,
    sandbox: Sandbox,
    source: str,
    context: Context,
    *,
    of_problem: bool = False,
    chip: ChipName | None = None,
    options: Mapping[str, str] | None = None,
    on_first: OnFirst | None = None,
) -> Measured:
    """Compile a function on its mesh, and for the chip if one is given. Raises the errors of `Mode.inspect`.

    Args:
      of_problem: pass the mesh as the first argument, whatever its name, and ignore the function's own `jit`.
      chip: also compile the program for this chip.
      options: of XLA for a GPU, beside those that the source sets.
      on_first: called before the program is compiled for the chip, unless that gives the only one.
    """
    # Look at the source before it runs, too: what is written there can be refused at once.
    chosen = ChosenOptions() if of_problem else choose_options(chip, options or {}, source)
    exported = _export(function, sandbox, source, context, of_problem=of_problem, chip=chip)
    if exported.compiler_options:
        chosen = choose_options(chip, options or {}, source, exported.compiler_options)
    measured = replace(
        _measure(function, sandbox, context, exported, chip, chosen),
        observed=exported.observed,
        remarks=(*exported.remarks, *chosen.remarks),
        jaxpr=exported.jaxpr,
    )
    if on_first is not None and chip is not None and not measured.is_only_on_chip:
        on_first(measured)
    return with_chip(measured, chip, sandbox, context, chosen.options)


def _export(
    function: Function, sandbox: Sandbox, source: str, context: Context, *, of_problem: bool, chip: ChipName | None
) -> FunctionExport:
    """Run the source, and export the function as its process lowers it for the chip as well."""
    try:
        with sandbox.open(_spec(_devices_for(function)), context.stop) as session:
            context.progress("importing")
            load_submission(session, source, function.name, devices=function.devices, modules=function.modules)
            context.progress(f"exporting for {mesh_name(function.mesh)}")
            kind = None if chip is None else CHIPS[chip]
            return export_function(session, function, of_problem=of_problem, chip=kind)
    except SubmissionFault as fault:
        if not of_problem:
            # This changes the advice on a failed import.
            fault.detail["takes_modules"] = True
        raise


def _measure(
    function: Function,
    sandbox: Sandbox,
    context: Context,
    exported: FunctionExport,
    chip: ChipName | None,
    chosen: ChosenOptions,
) -> Measured:
    """Compile the program for CPUs and measure it, or for the chip if XLA cannot compile it for CPUs."""
    if chip is not None and exported.only_for_chips:
        only = OnlyOnChips("not_exportable", exported.only_for_chips)
        return _only_on_chip(CHIPS[chip], function.mesh, exported, sandbox, context, only, chosen)
    context.progress("compiling")
    for alone in (False, True):
        try:
            with sandbox.verifier(_devices_for(function), _LIMITS, context.stop, alone=alone) as verifier:
                return compiled_and_read(
                    verifier,
                    function.mesh,
                    exported.artifact,
                    exported.raw,
                    exported.inputs,
                    runs=False,
                    alone=alone,
                    listing=True,
                )
        except NeedsOwnVerifier:
            continue
        except OnlyOnChips as fault:
            if chip is None:
                advice = "To see its program, choose a chip to compile it for."
                raise SubmissionFault(fault.reason, f"{fault} {advice}") from None
            return _only_on_chip(CHIPS[chip], function.mesh, exported, sandbox, context, fault, chosen)
        except SubmissionFault as fault:
            # An earlier program may have broken this verifier. If a new one also crashes, it is this program's fault.
            if fault.reason != "killed" or alone:
                raise
    raise AssertionError("a verifier of its own serves any program")


def _only_on_chip(
    chip: Chip,
    mesh: dict[str, int],
    exported: FunctionExport,
    sandbox: Sandbox,
    context: Context,
    reason: OnlyOnChips,
    chosen: ChosenOptions,
) -> Measured:
    """Measure the program that a chip's compiler makes. Raises `SubmissionFault` if that compiler fails, too."""
    on_chip, facts = measure_on_chip(chip, mesh, exported.artifact, sandbox, context, chosen.options)
    if on_chip.program is None:
        raise SubmissionFault(reason.reason, f"{reason} {on_chip.where}: {on_chip.fault}")
    check_outputs(facts, exported.raw["outputs"], runs=False)
    try:
        measured = measured_of(exported.raw | {"facts": facts}, mesh, exported.inputs)
    except ProgramUnreadable as error:
        raise SubmissionFault("not_exportable", f"The compiled program could not be read: {error}") from None
    return replace(measured, artifact=exported.artifact, on_chip=on_chip, is_only_on_chip=True)


def _devices_for(function: Function) -> int:
    return next(each for each in _DEVICES if function.devices <= each)
