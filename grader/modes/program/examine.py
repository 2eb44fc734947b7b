"""Program mode: compile a source for every mesh of its problem, measure the programs, and run them.

References and submissions are treated alike: a runner exports, and verifiers compile and run. They work in parallel: a
program is compiled while the next one is exported, while the programs of two steps are, and while `init` runs with
hidden seeds.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from grader.core.case import Case
from grader.core.chips import Lowering
from grader.core.context import QUIET, Context
from grader.core.errors import SubmissionFault
from grader.modes.program.export import Export, States, export, first_cases, hidden_cases, later_states, two_steps_of
from grader.modes.program.signatures import Signature, signatures_of
from grader.modes.program.verify import Examined, NeedsOwnVerifier, verify
from grader.package.package import ProgramManifest
from grader.program.measurement import Leaves, mesh_name
from grader.sandbox.protocol import Sandbox, Session

# Only this check reads a program of two steps.
TWO_STEPS_CHECK = "retrace"


@dataclass(frozen=True, slots=True)
class Examination:
    """All programs of one source, in the package's order of meshes, and how long it took to export them."""

    programs: tuple[Examined, ...]
    export_s: float


def examine(
    manifest: ProgramManifest,
    cases: Sequence[Case],
    sandbox: Sandbox,
    session: Session,
    context: Context = QUIET,
    *,
    listing: bool = False,
    lowerings: Sequence[Lowering] = (),
    on_first: Callable[[Examined], None] | None = None,
) -> Examination:
    """Export what `session` has loaded for every mesh and signature, and verify each one.

    Args:
      listing: also list the instructions of the programs, to show them.
      lowerings: also export the programs as JAX lowers them for these platforms.
      on_first: called with the first program as soon as it is verified, in the thread that verified it. It does not
        wait for the next export.
    Raises:
      SubmissionFault, GraderFault, Cancelled: from the sessions; of several, the first in the order of the meshes.
    """
    signatures = signatures_of(manifest, cases)
    two_steps = manifest.program.init is not None and any(spec.id == TWO_STEPS_CHECK for spec in manifest.checks)

    def verified(mesh: dict[str, int], signature: Signature, exported: Export, states: States) -> Examined:
        try:
            with sandbox.verifier(manifest.devices, manifest.limits, context.stop) as verifier:
                return verify(verifier, manifest, mesh, signature, exported, states, listing=listing)
        except NeedsOwnVerifier:
            pass
        except SubmissionFault as fault:
            # An earlier program may have broken this verifier. If a new one also crashes, it is this program's fault.
            if fault.reason != "killed":
                raise
        parts = []
        for part, its_states in _public_and_hidden(signature, states):
            with sandbox.verifier(manifest.devices, manifest.limits, context.stop, alone=True) as verifier:
                parts.append(verify(verifier, manifest, mesh, part, exported, its_states, alone=True, listing=listing))
        runs = {name: run for part in parts for name, run in part.runs.items()}
        return replace(parts[0], cases=signature.cases, runs=runs)

    wanted = [(mesh, signature) for mesh in manifest.program.meshes for signature in signatures]
    programs: list[tuple[Export, States, Future[Examined]]] = []

    def ask_for_two_steps(number: int) -> None:
        future = programs[number][1].two_steps
        if future is not None and not future.done():
            future.set_result(two_steps_of(session, wanted[number][0], number))

    started = time.monotonic()
    with ThreadPoolExecutor(len(manifest.program.meshes), thread_name_prefix="verify") as pool:
        try:
            for mesh, signature in wanted:
                context.progress(f"exporting for {mesh_name(mesh)}")
                exported = export(session, manifest, mesh, signature, lowerings=lowerings)
                later: Future[tuple[Leaves, ...]] = Future()
                if not hidden_cases(signature):
                    later.set_result(())
                states = States(exported.states, later, Future() if two_steps else None)
                future = pool.submit(verified, mesh, signature, exported, states)
                programs.append((exported, states, future))
                if on_first is not None and len(programs) == 1:
                    future.add_done_callback(partial(_pass_on, on_first))
                    ask_for_two_steps(0)
            context.progress("compiling and running")
            # Ask for these first: what the submission prints while it is traced is shown until the first hidden seed.
            for number in range(len(programs)):
                ask_for_two_steps(number)
            for number, (exported, states, _) in enumerate(programs):
                if not states.later.done():
                    states.later.set_result(later_states(session, manifest, *wanted[number], exported, number))
        except BaseException as error:  # catch everything: the threads that wait for the runner must end
            waited_for: list[Future[Any] | None] = [
                each for _, states, _ in programs for each in (states.later, states.two_steps)
            ]
            for each in waited_for:
                if each is not None and not each.done():
                    each.set_exception(error)
            raise
        export_s = time.monotonic() - started
        return Examination(tuple(future.result() for _, _, future in programs), export_s)


def _pass_on(on_first: Callable[[Examined], None], future: Future[Examined]) -> None:
    # `examine` raises its error.
    if future.exception() is None:
        on_first(future.result())


def _public_and_hidden(signature: Signature, states: States) -> list[tuple[Signature, States]]:
    """Split a signature into its public and hidden cases, because public output must come without hidden inputs."""
    first = first_cases(signature)
    if states.two_steps is not None and states.two_steps.done():
        # If the runner has ended, raise its error now, instead of after compiling once more.
        states.two_steps.result()
    none: Future[tuple[Leaves, ...]] = Future()
    none.set_result(())
    parts = [(replace(signature, cases=first), States(states.first, none, states.two_steps))]
    if hidden := hidden_cases(signature):
        parts.append((replace(signature, cases=hidden), States(states.later.result(), none, states.two_steps)))
    return parts
