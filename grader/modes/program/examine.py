"""Program mode: what a source compiles to on every mesh of its problem, measured, and what that computes.

The reference, the known wrong submissions and a submission go the same way: a runner exports, a verifier compiles and
runs. Meshes go side by side: while one is verified the next is exported.
"""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.case import Case
from grader.checks.program.subject import Leaves, Measured, Run, in_bytes, mesh_name
from grader.context import QUIET, Context
from grader.errors import GraderFault, SubmissionFault
from grader.package.package import ProgramManifest
from grader.program import facts as program_facts
from grader.program.tokens import ProgramUnreadable
from grader.sandbox.faults import fault_of_program
from grader.sandbox.protocol import Sandbox, Session
from grader.wire import DTYPES, MAX_LEAVES, MAX_PATH, MAX_RANK

_STATIC = (bool, int, float, str)


@dataclass(frozen=True, slots=True)
class Signature:
    """The cases that one program serves: same static arguments, same shapes and dtypes of the others."""

    args: tuple[dict[str, Any], ...]
    inputs: tuple[str, ...]
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Examined:
    """One program on one mesh: what was measured, and a run for each case. `raw` is what the facts were read from."""

    cases: tuple[Case, ...]
    measured: Measured
    runs: dict[str, Run]
    raw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Export:
    """What a runner gave for one mesh: the program, and the leaves of the state for each case."""

    artifact: np.ndarray[Any, Any]
    init: np.ndarray[Any, Any] | None
    states: tuple[Leaves, ...]
    outputs: tuple[str, ...]
    primitives: dict[str, int]
    retraced: bool


@dataclass(frozen=True, slots=True)
class Examination:
    """All programs of one source, meshes in the package's order; and how long its runner took to export them."""

    programs: tuple[Examined, ...]
    export_s: float


def signatures_of(manifest: ProgramManifest, cases: Sequence[Case]) -> list[Signature]:
    """Sort the cases by the program that they need.

    Raises:
      GraderFault: a case does not fit the package's `[program]`.
    """
    program = manifest.program
    found: dict[str, tuple[list[dict[str, Any]], list[str], list[Case]]] = {}
    for case in cases:
        args, names = [], []
        for name, value in case.inputs.items():
            if name == "seed" and program.init:
                continue
            if isinstance(value, np.ndarray):
                shape = list(value.shape)
                if program.init and shape[:1] != [program.steps]:
                    raise GraderFault(
                        f"{manifest.slug}: {case.id}: {name} needs a leading dimension of {program.steps} steps"
                    )
                spec = program.inputs.get(name, [])
                shape = shape[1:] if program.init else shape
                args.append({"shape": shape, "dtype": value.dtype.name, "spec": spec})
                names.append(name)
            elif type(value) in _STATIC:
                args.append({"static": value})
            else:
                raise GraderFault(f"{manifest.slug}: {case.id}: {name} is neither an array nor a number")
        if program.init and type(case.inputs.get("seed")) is not int:
            raise GraderFault(f"{manifest.slug}: {case.id}: with an `init` every case needs a `seed`, a Python int")
        found.setdefault(repr(args), (args, names, []))[2].append(case)
    return [Signature(tuple(args), tuple(names), tuple(alike)) for args, names, alike in found.values()]


def export(session: Session, manifest: ProgramManifest, mesh: dict[str, int], signature: Signature) -> Export:
    """Have the loaded source exported for one mesh. Raises what `Session.request` raises.

    From the first seed or argument of a hidden case on, nothing of what is printed is kept.
    """
    program = manifest.program
    public = [case for case in signature.cases if case.public]
    first = public or signature.cases
    if not public:
        session.seal_output()
    values = session.export(
        mesh,
        signature.args,
        init=program.init,
        export_init=program.export_init,
        seeds=[case.inputs["seed"] for case in first] if program.init else [],
    )
    states = values.get("states")
    if program.init and len(first) < len(signature.cases):
        session.seal_output()
        seeds = [case.inputs["seed"] for case in signature.cases[len(first) :]]
        states = [*_list(states), *_list(session.states(seeds))]
    match {**values, "states": states}:
        case {
            "artifact": np.ndarray() as artifact,
            "init": (np.ndarray() | None) as init,
            "states": list(states),
            "outputs": list(outputs),
            "primitives": dict(primitives),
            "retraced": bool(retraced),
        } if (
            artifact.dtype == np.uint8
            and (init is not None) == program.export_init
            and (init is None or init.dtype == np.uint8)
            and len(states) == (len(signature.cases) if program.init else 1)
            and all(_are_leaves(state) for state in states)
            and _are_paths(outputs)
            and (not program.init or outputs == [*states[0], "loss"])
            and all(type(number) is int for number in primitives.values())
        ):
            _check_states(states)
            # Without an `init` there is no state, in any case.
            states = states if program.init else states * len(signature.cases)
            return Export(artifact, init, tuple(states), tuple(outputs), primitives, retraced)
    raise SubmissionFault("error", "Something other than the runner answered: the reply to an export has another form.")


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _are_leaves(state: object) -> bool:
    return isinstance(state, dict) and _are_paths(list(state)) and all(map(_is_array, state.values()))


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray)


def _are_paths(names: list[object]) -> bool:
    """As our runner names leaves: so many at most, so long at most, each name once."""
    return (
        len(names) <= MAX_LEAVES + 1
        and all(isinstance(name, str) and len(name) <= MAX_PATH for name in names)
        and len(set(names)) == len(names)
    )


def _check_states(states: Sequence[Leaves]) -> None:
    """One program takes them all.

    Raises:
      SubmissionFault: a leaf's name, shape or dtype depends on the seed.
    """
    for state in states:
        if list(state) != list(states[0]):
            raise SubmissionFault("wrong_structure", "`init` returns different leaves for different seeds.")
        for path, leaf in state.items():
            usual = states[0][path]
            if leaf.shape != usual.shape:
                raise SubmissionFault(
                    "wrong_shape", f"`init` gives leaf {path} another shape for one seed than for another."
                )
            if leaf.dtype != usual.dtype:
                raise SubmissionFault(
                    "wrong_dtype", f"`init` gives leaf {path} another dtype for one seed than for another."
                )


class _NeedsOwnVerifier(Exception):
    """The program calls native kernels: its verifier must serve nobody else."""


def verify(
    session: Session,
    manifest: ProgramManifest,
    mesh: dict[str, int],
    signature: Signature,
    exported: Export,
    *,
    alone: bool = False,
) -> Examined:
    """Have a program compiled, measured and run on every case of its signature.

    Args:
      alone: the verifier serves nobody else, so the program may call native kernels.
    Raises:
      _NeedsOwnVerifier: it calls some, and the verifier is not alone.
      And what `Session.request` raises.
    """
    program = manifest.program
    init_facts, states = None, exported.states
    if exported.init is not None:
        init_facts, states = _run_init(session, mesh, signature, exported, alone)
    state = tuple(states[0])
    arrays = [arg for arg in signature.args if "static" not in arg]
    leaves = [{"shape": list(leaf.shape), "dtype": leaf.dtype.name} for leaf in states[0].values()]
    inputs = [{"shape": arg["shape"], "dtype": arg["dtype"]} for arg in arrays]
    facts = _compile(session, mesh, exported.artifact, [*leaves, *inputs], len(state), alone)
    observed = {"primitives": exported.primitives, "retraced": exported.retraced}
    raw = {
        "facts": facts,
        "init": init_facts,
        "outputs": list(exported.outputs),
        "state": list(state),
        **observed,
    }
    _check_outputs(raw["facts"], exported.outputs)
    try:
        measured = measured_of(raw, mesh, signature)
    except ProgramUnreadable as error:
        raise SubmissionFault("not_exportable", f"The compiled program could not be read: {error}") from None
    _check_state(measured)
    _check_memory(measured, manifest.limits.memory_mb)
    runs: dict[str, Run] = {}
    for case, leaves_of_case in zip(signature.cases, states, strict=True):
        activity = f"your compiled program ran {case.id} on mesh {mesh_name(mesh)}"
        inputs_of_case = [case.inputs[name] for name in signature.inputs]
        steps = _run(session, program.steps, [*leaves_of_case.values()], inputs_of_case, activity)
        runs[case.id] = _run_of(leaves_of_case, steps, exported.outputs, program.steps)
    return Examined(signature.cases, measured, runs, raw)


def _compile(
    session: Session,
    mesh: dict[str, int],
    artifact: np.ndarray[Any, Any],
    inputs: list[dict[str, Any]],
    state: int,
    alone: bool,
) -> object:
    try:
        reply = session.compile(mesh, artifact, inputs, state=state, alone=alone)
    except SubmissionFault as fault:
        raise fault_of_program(fault, f"your program was compiled for mesh {mesh_name(mesh)}") from None
    if reply.get("kernels") and not alone:
        raise _NeedsOwnVerifier
    return reply.get("facts")


def _run(session: Session, steps: int, state: Sequence[object], inputs: Sequence[object], activity: str) -> object:
    try:
        return session.run(steps, state, inputs)
    except SubmissionFault as fault:
        raise fault_of_program(fault, activity) from None


def _run_init(
    session: Session, mesh: dict[str, int], signature: Signature, exported: Export, alone: bool
) -> tuple[object, tuple[Leaves, ...]]:
    """Have the program of `init` measured and run. Its own outputs are the states: what the runner says they are is
    nothing that the memory of this program could be held against.
    """
    assert exported.init is not None
    facts = _compile(session, mesh, exported.init, [{"shape": [], "dtype": "uint32"}], 0, alone)
    names, states = tuple(exported.states[0]), []
    _check_outputs(facts, names)
    for case in signature.cases:
        seed = np.asarray(case.inputs["seed"], np.uint32)
        activity = f"your compiled `init` ran with the seed of {case.id} on mesh {mesh_name(mesh)}"
        run = _run_of({}, _run(session, 1, [], [seed], activity), names, 1)
        if run.replicas[0]:
            raise SubmissionFault("wrong_value", "`init` leaves other values on one device than on another.")
        states.append(run.steps[0])
    return facts, tuple(states)


def _check_outputs(facts: object, names: Sequence[str]) -> None:
    """The names come out of the runner, the program is what it is.

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
    for path, leaf in zip(names, outputs, strict=True):
        match leaf:
            case {"dtype": str(dtype)} if dtype not in DTYPES:
                raise SubmissionFault("wrong_dtype", f"The program returns {path} as {dtype[:40]}, which no case has.")
            case {"shape": list(shape)} if len(shape) > MAX_RANK:
                raise SubmissionFault(
                    "wrong_shape", f"The program returns {path} with {len(shape)} dimensions; at most {MAX_RANK} work."
                )


def _check_memory(measured: Measured, memory_mb: int) -> None:
    """Before it runs: a device that finds no memory would leave the others waiting for it.

    Raises:
      SubmissionFault: `memory_limit`.
    """
    memory = measured.facts.memory
    constants = measured.facts.census.constant_bytes
    each = memory.argument_bytes + memory.output_bytes + memory.temporary_bytes + constants
    if each * measured.facts.devices > memory_mb << 20:
        raise SubmissionFault(
            "memory_limit",
            f"On mesh {mesh_name(measured.mesh)} the compiled program needs {in_bytes(each)} on each device, "
            f"{in_bytes(each * measured.facts.devices)} in all: more than the {memory_mb:,} MiB that there are. "
            "Look for an array with one dimension too many, or for a broadcast of two large ones.",
        )


def _check_state(measured: Measured) -> None:
    """A step's state goes into the next step.

    Raises:
      SubmissionFault: `wrong_shape` or `wrong_dtype`, where it cannot.
    """
    for (path, before), (_, after) in zip(measured.state_in, measured.out, strict=False):
        for reason, what, old, new in (
            ("wrong_shape", "shape", before.shape, after.shape),
            ("wrong_dtype", "dtype", before.dtype, after.dtype),
        ):
            if old != new:
                raise SubmissionFault(
                    reason,  # type: ignore[arg-type]
                    f"Leaf {path} of the state goes into the step with {what} {old} and comes out with {new}, so the "
                    "next step cannot take it.",
                )


def measured_of(raw: dict[str, Any], mesh: dict[str, int], signature: Signature) -> Measured:
    """Raises: ProgramUnreadable, where the facts have another form; GraderFault, where they are of another program."""
    facts = program_facts.from_json(raw["facts"])
    init = program_facts.from_json(raw["init"]) if raw["init"] is not None else None
    state, outputs = tuple(raw["state"]), tuple(raw["outputs"])
    if len(facts.inputs) != len(state) + len(signature.inputs) or len(facts.outputs) != len(outputs):
        raise GraderFault("a verifier's facts do not fit the program")
    if init is not None and len(init.outputs) != len(state):
        raise GraderFault("a verifier's facts of `init` do not fit its state")
    return Measured(mesh, facts, init, state, signature.inputs, outputs, raw["primitives"], raw["retraced"])


def examine(
    manifest: ProgramManifest,
    cases: Sequence[Case],
    sandbox: Sandbox,
    session: Session,
    context: Context = QUIET,
) -> Examination:
    """Export what `session` has loaded for every mesh and signature, and have each verified.

    Raises:
      SubmissionFault, GraderFault, Cancelled: as the sessions do; the first in the order of the meshes.
    """
    signatures = signatures_of(manifest, cases)

    def verified(mesh: dict[str, int], signature: Signature, exported: Export) -> Examined:
        try:
            with sandbox.verifier(manifest.devices, manifest.limits, context.stop) as verifier:
                return verify(verifier, manifest, mesh, signature, exported)
        except _NeedsOwnVerifier:
            pass
        except SubmissionFault as fault:
            # A program before it may have broken this verifier. One that crashes a verifier of its own did it itself.
            if fault.reason != "killed":
                raise
        parts = []
        for part, its_states in _public_and_hidden(signature, exported):
            with sandbox.verifier(manifest.devices, manifest.limits, context.stop, alone=True) as verifier:
                parts.append(verify(verifier, manifest, mesh, part, replace(exported, states=its_states), alone=True))
        runs = {name: run for part in parts for name, run in part.runs.items()}
        return replace(parts[0], cases=signature.cases, runs=runs)

    with ThreadPoolExecutor(len(manifest.program.meshes), thread_name_prefix="verify") as pool:
        futures: list[Future[Examined]] = []
        export_s = 0.0
        for mesh in manifest.program.meshes:
            for signature in signatures:
                context.progress(f"exporting for {mesh_name(mesh)}")
                started = time.monotonic()
                exported = export(session, manifest, mesh, signature)
                export_s += time.monotonic() - started
                futures.append(pool.submit(verified, mesh, signature, exported))
        context.progress("compiling and running")
        return Examination(tuple(future.result() for future in futures), export_s)


def _public_and_hidden(signature: Signature, exported: Export) -> list[tuple[Signature, tuple[Leaves, ...]]]:
    """The cases of a signature, apart: what is shown of a public one comes from a process that saw no hidden one."""
    parts = []
    for public in (True, False):
        pairs = zip(signature.cases, exported.states, strict=True)
        chosen = [(case, state) for case, state in pairs if case.public is public]
        if chosen:
            parts.append(
                (replace(signature, cases=tuple(case for case, _ in chosen)), tuple(state for _, state in chosen))
            )
    return parts


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
