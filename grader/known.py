"""Runs a package's known wrong submissions, to recognise others that are wrong in the same way."""

import logging
from collections.abc import Sequence

from grader.case import Case
from grader.compare import compare
from grader.context import Context, Stop
from grader.errors import GraderFault, SubmissionFault
from grader.modes.program.examine import examine
from grader.modes.program.sketch import pattern_of, sketch_of
from grader.modes.program.verify import Examined
from grader.package.package import KnownSubmission, Package, ProgramManifest
from grader.prepared import KnownMistake, Prepared
from grader.reasons import REASONS
from grader.sandbox.protocol import RunnerSpec, Sandbox, Session

log = logging.getLogger("meshgrade.known")


def runnable(package: Package) -> list[KnownSubmission]:
    """Those that come back with a result, or as far as a program."""
    return [each for each in package.rejected if each.reason and REASONS[each.reason].has_program]


def has_wrong_result(submission: KnownSubmission) -> bool:
    return submission.reason is not None and REASONS[submission.reason].wrong_result


def run_known(
    sandbox: Sandbox,
    spec: RunnerSpec,
    package: Package,
    prepared: Prepared,
    submission: KnownSubmission,
    stop: Stop,
) -> KnownMistake:
    """Run one, in a runner of its own: what it traces or changes may spoil the next.

    Raises:
      GraderFault: in call mode, it gives no result.
      Cancelled: `stop` was set.
    """
    if package.manifest.mode == "program":
        return _examine_known(sandbox, spec, package.manifest, prepared, submission, stop)
    with sandbox.open(spec, stop) as session:
        results = _results_of(session, package, submission, prepared.cases)
    tolerances = package.manifest.tolerance
    # One that differs nowhere from the reference tells nothing.
    differs = any(compare(prepared.answers[name].result, result, tolerances) for name, result in results.items())
    return KnownMistake(submission.misunderstanding, results if differs else {})


def examine_source(
    sandbox: Sandbox,
    spec: RunnerSpec,
    manifest: ProgramManifest,
    source: str,
    cases: Sequence[Case],
    stop: Stop,
) -> tuple[Examined, ...]:
    """What a source of the package's own compiles to on every mesh. Raises as `examine` does."""
    with sandbox.open(spec, stop) as session:
        session.load(source, manifest.entry)
        return examine(manifest, cases, sandbox, session, Context(stop=stop)).programs


def told(fault: SubmissionFault) -> str:
    """What the package's own code did, for the author's eyes."""
    return f"{fault.detail.get('type', fault.reason)}: {fault}"


def _examine_known(
    sandbox: Sandbox,
    spec: RunnerSpec,
    manifest: ProgramManifest,
    prepared: Prepared,
    submission: KnownSubmission,
    stop: Stop,
) -> KnownMistake:
    """One that computes what is right is recognised by how it is built, another by what it computes."""
    try:
        examined = examine_source(sandbox, spec, manifest, submission.source, prepared.cases, stop)
    except SubmissionFault as fault:
        log.warning("%s: rejected/%s.py gives no program: %s", manifest.slug, submission.name, told(fault))
        return KnownMistake(submission.misunderstanding, {})
    if has_wrong_result(submission):
        return KnownMistake(submission.misunderstanding, sketch_of(examined))
    return KnownMistake(submission.misunderstanding, {}, pattern_of([each.measured for each in examined]))


def _results_of(
    session: Session, package: Package, submission: KnownSubmission, cases: Sequence[Case]
) -> dict[str, object]:
    file = f"{package.slug}: submissions/rejected/{submission.name}.py"
    try:
        session.load(submission.source, package.manifest.entry)
    except SubmissionFault as fault:
        raise GraderFault(f"{file} failed: {told(fault)}") from None
    results: dict[str, object] = {}
    for case in cases:
        try:
            values = session.call([*case.inputs.values()])
        except SubmissionFault as fault:
            if fault.reason != "error":
                raise GraderFault(f"{file}: {told(fault)}") from None
            continue
        results[case.id] = values.get("result")
    return results
