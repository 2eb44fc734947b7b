"""Let a verifier compile, measure and run one exported program."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from grader.core.case import Case
from grader.core.errors import GraderFault, SubmissionFault
from grader.core.text import in_bytes
from grader.core.wire import DTYPES, MAX_RANK, Array, ArrayForm, Message, unsendable
from grader.modes.program.export import Export, States
from grader.modes.program.signatures import Signature
from grader.package.package import ProgramManifest
from grader.program.listing import Listing
from grader.program.measurement import Artifact, Leaves, Measured, Run, measured_of, mesh_name
from grader.program.peak_buffers import PeakBuffers
from grader.program.placed_arrays import PlacedArrays
from grader.program.program_graph import read_graph
from grader.program.strict_json import read
from grader.program.tokens import ProgramUnreadable
from grader.sandbox.faults import fault_of_program
from grader.sandbox.protocol import Session

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Examined:
    """One program on one mesh: its facts, which were read from `raw`, and a run for each case."""

    cases: tuple[Case, ...]
    measured: Measured
    runs: dict[str, Run]
    raw: Message


@dataclass(frozen=True, slots=True)
class Compiled:
    """One program on one mesh: its facts, which were read from `raw`, and the states that `init`'s program made."""

    measured: Measured
    raw: dict[str, Any]
    made: tuple[Leaves, ...] | None


class NeedsOwnVerifier(Exception):
    """The program calls native kernels, so it needs a verifier that serves no other program."""


class OnlyOnChips(SubmissionFault):
    """XLA cannot compile the program for CPUs, so it is neither graded nor run."""


def verify(
    session: Session,
    manifest: ProgramManifest,
    mesh: dict[str, int],
    signature: Signature,
    exported: Export,
    states: States,
    *,
    alone: bool = False,
    listing: bool = False,
) -> Examined:
    """Compile a program, measure it, run it on every case of its signature, and find out whether it is traced again.

    Args:
      states: for the signature's cases. Waiting for what comes later does not count as the verifier's time.
      alone: the verifier serves no other program, so this one can call native kernels.
      listing: also list the instructions, to show them.
    Raises:
      NeedsOwnVerifier: it calls native kernels, and the verifier is not alone.
      OnlyOnChips: a `SubmissionFault`.
      SubmissionFault, GraderFault, Cancelled: as in `Session.request`.
    """
    compiled = measure(session, mesh, signature, exported, alone=alone, listing=listing)
    measured = compiled.measured
    _check_state(measured)
    _check_memory(measured, manifest.limits.memory_mb)
    runs: dict[str, Run] = {}
    for case, leaves_of_case in zip(signature.cases, compiled.made or _all_of(states, session), strict=True):
        activity = f"your compiled program ran {case.id} on mesh {mesh_name(mesh)}"
        inputs_of_case = [case.inputs[name] for name in signature.inputs]
        steps = _run(session, manifest.program.steps, [*leaves_of_case.values()], inputs_of_case, activity)
        runs[case.id] = _run_of(leaves_of_case, steps, exported.outputs, manifest.program.steps)
    if states.two_steps is not None:
        compiled = _with_second_step(session, compiled, states.two_steps)
    return Examined(signature.cases, compiled.measured, runs, compiled.raw)


def measure(
    session: Session,
    mesh: dict[str, int],
    signature: Signature,
    exported: Export,
    *,
    alone: bool = False,
    listing: bool = False,
) -> Compiled:
    """Compile and measure a program without running it. It takes the arguments and raises the errors of `verify`."""
    init_facts, made = None, None
    if exported.init is not None:
        init_facts, made = _run_init(session, mesh, signature, exported, alone)
    usual = made[0] if made else exported.states[0] if exported.states else {}
    arrays = [arg for arg in signature.args if "static" not in arg]
    leaves: list[ArrayForm] = [{"shape": list(leaf.shape), "dtype": leaf.dtype.name} for leaf in usual.values()]
    inputs: list[ArrayForm] = [{"shape": arg["shape"], "dtype": arg["dtype"]} for arg in arrays]
    artifact = Artifact(
        program=exported.artifact,
        inputs=(*leaves, *inputs),
        state=len(usual),
        for_chips=exported.for_chips,
        chip_faults=exported.chip_faults,
    )
    raw: dict[str, Any] = {"init": init_facts, "outputs": list(exported.outputs), "state": list(usual)}
    measured = compiled_and_read(session, mesh, artifact, raw, signature.inputs, alone=alone, listing=listing)
    return Compiled(measured, raw, made)


def compiled_and_read(
    session: Session,
    mesh: dict[str, int],
    artifact: Artifact,
    raw: dict[str, Any],
    inputs: tuple[str, ...],
    *,
    runs: bool = True,
    alone: bool = False,
    listing: bool = False,
) -> Measured:
    """Compile an exported program, and read its facts, which are added to `raw`. Raises the errors of `verify`.

    Args:
      raw: `init` (its facts or None), and the names of `outputs` and of the donated leaves (`state`).
      inputs: the names of the other leaves.
      runs: the program will be run, so its results have to cross the wire.
    """
    reply = _compile(session, mesh, artifact, alone, listing)
    raw["facts"] = facts = reply.get("facts")
    check_outputs(facts, raw["outputs"], runs=runs)
    try:
        measured = replace(measured_of(raw, mesh, inputs), artifact=artifact)
        if listing:
            compiled, written = (read(Listing, reply.get(name), name) for name in ("listing", "written"))
            arrays = read(PlacedArrays, reply.get("arrays"), "arrays")
            peak = read(PeakBuffers, reply["peak"], "peak") if reply.get("peak") else None
            sizes = len(measured.facts.inputs), len(measured.outputs), len(measured.facts.census.collectives)
            graph = read_graph(reply["graph"], *sizes) if reply.get("graph") else None
            measured = replace(measured, listing=compiled, written=written, arrays=arrays, peak=peak, graph=graph)
        return measured
    except ProgramUnreadable as error:
        raise SubmissionFault("not_exportable", f"The compiled program could not be read: {error}") from None


def _all_of(states: States, session: Session) -> Iterator[Leaves]:
    yield from states.first
    yield from _awaited(states.later, session)


def _awaited(future: Future[T], session: Session) -> T:
    """Wait for something of the runner. That does not count as the time of the verifier behind `session`."""
    started = time.monotonic()
    result = future.result()
    session.forgive(time.monotonic() - started)
    return result


def _with_second_step(session: Session, compiled: Compiled, two_steps: Future[Array]) -> Compiled:
    """Add to the facts whether the program is traced again. Raises the errors of `verify`."""
    measured = compiled.measured
    text = _awaited(two_steps, session)
    try:
        retraced = session.second_step(len(measured.state), text)
    except SubmissionFault as fault:
        raise fault_of_program(fault, f"your program was compiled for mesh {mesh_name(measured.mesh)}") from None
    if not isinstance(retraced, bool):
        raise SubmissionFault(
            "not_exportable", "The compiled program could not be read: nothing says whether it is traced again."
        )
    facts = {**compiled.raw["facts"], "retraced": retraced}
    measured = replace(measured, facts=replace(measured.facts, retraced=retraced))
    return replace(compiled, measured=measured, raw={**compiled.raw, "facts": facts})


def _compile(session: Session, mesh: dict[str, int], artifact: Artifact, alone: bool, listing: bool = False) -> Message:
    try:
        reply = session.compile(
            mesh,
            artifact.program,
            artifact.inputs,
            state=artifact.state,
            alone=alone,
            listing=listing,
        )
    except SubmissionFault as fault:
        raise fault_of_program(fault, f"your program was compiled for mesh {mesh_name(mesh)}") from None
    if only_on_chips := reply.get("only_on_chips"):
        raise OnlyOnChips("not_exportable", str(only_on_chips))
    if reply.get("kernels") and not alone:
        raise NeedsOwnVerifier
    return reply


def _run(session: Session, steps: int, state: Sequence[object], inputs: Sequence[object], activity: str) -> object:
    try:
        return session.run(steps, state, inputs)
    except SubmissionFault as fault:
        raise fault_of_program(fault, activity) from None


def _run_init(
    session: Session, mesh: dict[str, int], signature: Signature, exported: Export, alone: bool
) -> tuple[object, tuple[Leaves, ...]]:
    """Measure and run the program of `init`. Its outputs become the states, so that its memory is the memory of these
    states.
    """
    assert exported.init is not None
    facts = _compile(session, mesh, Artifact(exported.init, ({"shape": [], "dtype": "uint32"},), 0), alone).get("facts")
    names, states = tuple(exported.states[0]), dict[object, Leaves]()
    check_outputs(facts, names)
    for case in signature.cases:
        if case.inputs["seed"] in states:
            continue
        seed = np.asarray(case.inputs["seed"], np.uint32)
        activity = f"your compiled `init` ran with the seed of {case.id} on mesh {mesh_name(mesh)}"
        run = _run_of({}, _run(session, 1, [], [seed], activity), names, 1)
        if run.replicas[0]:
            raise SubmissionFault(
                "wrong_value", "`init` puts different values on devices that should hold the same ones."
            )
        states[case.inputs["seed"]] = run.steps[0]
    return facts, tuple(states[case.inputs["seed"]] for case in signature.cases)


def check_outputs(facts: object, names: Sequence[str], *, runs: bool = True) -> None:
    """Match the leaf names, which come from the runner, with the arrays of the program.

    Args:
      runs: see `compiled_and_read`.
    Raises:
      SubmissionFault: there are more or fewer names than arrays, or an array cannot cross the wire.
    """
    match facts:
        case {"outputs": list(outputs)}:
            pass
        case _:
            raise GraderFault("a verifier answered without facts")
    if len(outputs) != len(names):
        raise SubmissionFault(
            "wrong_structure",
            f"The program returns {len(outputs)} arrays, and the runner names {len(names)} leaves.",
        )
    for path, leaf in zip(names, outputs if runs else (), strict=runs):
        match leaf:
            case {"dtype": str(dtype)} if dtype not in DTYPES:
                raise SubmissionFault("wrong_dtype", f"The program returns the leaf {path} as {unsendable(dtype)}")
            case {"shape": list(shape)} if len(shape) > MAX_RANK:
                raise SubmissionFault(
                    "wrong_shape",
                    f"The program returns {path} with {len(shape)} dimensions; at most {MAX_RANK} are accepted.",
                )


def _check_memory(measured: Measured, memory_mb: int) -> None:
    """Check the memory before the run, because a device that runs out of memory would leave the others waiting.

    Raises:
      SubmissionFault: `memory_limit`.
    """
    memory = measured.facts.memory
    constants = measured.facts.census.constant_bytes
    each = memory.argument_bytes + memory.output_bytes + memory.temporary_bytes + constants
    if each * measured.facts.devices > memory_mb << 20:
        raise SubmissionFault(
            "memory_limit",
            f"On mesh {mesh_name(measured.mesh)}, the compiled program needs {in_bytes(each)} on each device, "
            f"{in_bytes(each * measured.facts.devices)} in total, more than the available {memory_mb:,} MiB. "
            "Look for an array with one dimension too many, or for a broadcast of two large ones.",
        )


def _check_state(measured: Measured) -> None:
    """Check that the state that a step returns can enter the next step.

    Raises:
      SubmissionFault: `wrong_shape` or `wrong_dtype`, if it cannot.
    """
    for (path, before), (_, after) in zip(measured.state_in, measured.out, strict=False):
        for reason, what, old, new in (
            ("wrong_shape", "shape", before.shape, after.shape),
            ("wrong_dtype", "dtype", before.dtype, after.dtype),
        ):
            if old != new:
                shapes = {"leaf": path, "expected": before.shape, "got": after.shape}
                raise SubmissionFault(
                    reason,  # type: ignore[arg-type]
                    f"Leaf {path} of the state enters the step with {what} {old} and leaves it with {new}, so the "
                    "next step cannot use it.",
                    **({"shapes": shapes} if what == "shape" else {}),
                )


def _run_of(init: Leaves, steps: object, names: Sequence[str], number: int) -> Run:
    if not isinstance(steps, list) or len(steps) != number:
        raise GraderFault("a verifier has not run every step")
    outputs, replicas = [], []
    for step in steps:
        match step:
            case {"outputs": list(found), "replicas": dict(others)} if len(found) == len(names) and all(
                isinstance(leaf, np.ndarray) for leaf in (*found, *others.values())
            ):
                outputs.append(dict(zip(names, found, strict=True)))
                replicas.append({names[int(index)]: leaf for index, leaf in others.items()})
            case _:
                raise GraderFault("a verifier's outputs do not fit the program")
    return Run(init, tuple(outputs), tuple(replicas))
