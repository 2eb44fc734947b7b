"""Program mode: what a source compiles to on every mesh of its problem, measured, and what that computes.

The reference, the known wrong submissions and a submission go the same way: a runner exports, a verifier compiles and
runs. Meshes go side by side: while one is verified the next is exported.
"""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from grader.case import Case
from grader.context import QUIET, Context
from grader.errors import SubmissionFault
from grader.modes.program.export import Export, export
from grader.modes.program.signatures import Signature, signatures_of
from grader.modes.program.verify import Examined, NeedsOwnVerifier, verify
from grader.package.package import ProgramManifest
from grader.program.measured import Leaves, mesh_name
from grader.sandbox.protocol import Sandbox, Session


@dataclass(frozen=True, slots=True)
class Examination:
    """All programs of one source, meshes in the package's order; and how long its runner took to export them."""

    programs: tuple[Examined, ...]
    export_s: float


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
        except NeedsOwnVerifier:
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
