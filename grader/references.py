"""What a package's own code says: its cases, the reference's answers, and the outputs of known wrong submissions.

cases.py, reference.py and the known wrong submissions each run in a sandbox of their own, never beside a student's
submission, and only arrays come out. The answers are kept on disk by package version, versions of the JAX side, and
case; a file is a wire frame, so reading one executes nothing.
"""

import hashlib
import hmac
import importlib.metadata
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.case import Case
from grader.checks.call.outcome import Answer
from grader.checks.program.sketch import pattern_of, sketch_of
from grader.compare import compare
from grader.errors import GraderFault, SubmissionFault
from grader.examine import Examined, examine
from grader.package.names import unmatched_leaves, wrong_cases
from grader.package.package import KnownSubmission, Package
from grader.prepared import Known, Prepared, answer_of, load_known, load_prepared, store_known, store_prepared
from grader.runner import wire
from grader.runner.wire import MAX_CASES
from grader.sandbox.protocol import RunnerSpec, Sandbox, Warmup

# Of what is kept on disk; a new one where it is written otherwise, or measured otherwise (the verifier's options).
_FORMAT = "8"
log = logging.getLogger("meshgrade.references")
_WITHOUT_PROGRAM = {
    "syntax_error",
    "missing_entry",
    "error",
    "not_exportable",
    "divergent_collective",
    "time_limit",
    "memory_limit",
    "output_limit",
    "killed",
}
Progress = Callable[[str], None]


class References:
    """Makes and keeps what a package's code says. Threads may share one; nothing is run twice, however many ask.

    Known wrong submissions are many and are asked for only when a submission was wrong, so they are kept apart.
    """

    def __init__(self, sandbox: Sandbox, secret: bytes, cache: Path) -> None:
        self._sandbox = sandbox
        self._secret = secret
        self._cache = cache
        self._prepared: dict[str, Prepared] = {}
        self._known: dict[str, tuple[Known, ...]] = {}
        self._locks: dict[tuple[str, str], threading.Lock] = {}
        self._guard = threading.Lock()

    def prepare(self, package: Package, progress: Progress, stop: threading.Event | None) -> Prepared:
        """Return the cases and answers of a package, from memory, from disk, or by running it.

        Raises:
          GraderFault: the package's own code failed; the message says which file and how.
          Cancelled: `stop` was set.
        """
        with self._lock("prepared", package):
            if package.version not in self._prepared:
                folder = self._cache / self._key(package)
                prepared = load_prepared(folder)
                if prepared is None:
                    progress("making the cases")
                    cases = self._cases(package, stop)
                    progress("running the reference")
                    prepared = self._run_reference(package, cases, stop)
                    store_prepared(folder, prepared)
                self._prepared[package.version] = prepared
            return self._prepared[package.version]

    def known(self, package: Package, progress: Progress, stop: threading.Event | None) -> tuple[Known, ...]:
        """Return what the known wrong submissions of a package return. Raises as `prepare` does."""
        prepared = self.prepare(package, progress, stop)
        with self._lock("known", package):
            if package.version not in self._known:
                folder = self._cache / self._key(package)
                known = load_known(folder)
                if known is None:
                    progress("running the known wrong submissions")
                    known = self._run_known(package, prepared, stop)
                    store_known(folder, known)
                self._known[package.version] = known
            return self._known[package.version]

    def _lock(self, what: str, package: Package) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault((what, package.version), threading.Lock())

    def _key(self, package: Package) -> str:
        """Of everything that the answers depend on. The secret enters as a digest: hidden inputs come from it."""
        versions = [
            f"{name}={importlib.metadata.version(name)}" for name in ("jax", "jaxlib", "flax", "optax", "numpy")
        ]
        parts = [_FORMAT, package.slug, package.version, *versions, self._case_key(package)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def _case_key(self, package: Package) -> str:
        """HMAC(deployment secret, problem, version), in hex; the runner derives each hidden case's seed from it."""
        text = f"meshgrade hidden cases\n{package.slug}\n{package.version}"
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    def _spec(self, package: Package, share: int = 1) -> RunnerSpec:
        """A runner for the package's own code, with the time of `share` submissions."""
        return replace(runner_spec(package), share=share)

    def _cases(self, package: Package, stop: threading.Event | None) -> list[Case]:
        cases: list[Case] = []
        try:
            with self._sandbox.open(self._spec(package), stop) as session:
                for kind, key in (("public", None), ("hidden", self._case_key(package))):
                    session.request({"op": "load", "source": package.cases, "entry": f"{kind}_cases"})
                    _, values = session.request({"op": "cases", "key": key})
                    cases += _cases_of(package, kind, values)
        except SubmissionFault as fault:
            raise GraderFault(f"{package.slug}: cases.py failed: {_told(fault)}") from None
        _refuse(package, wrong_cases(package.manifest, package.reference, {case.id: case.inputs for case in cases}))
        return cases

    def _run_reference(self, package: Package, cases: list[Case], stop: threading.Event | None) -> Prepared:
        if package.manifest.mode == "call":
            return Prepared(tuple(cases), self._answers(package, cases, stop))
        try:
            examined = self._examine(package, package.reference, cases, stop)
        except SubmissionFault as fault:
            raise GraderFault(f"{package.slug}: reference.py failed: {_told(fault)}") from None
        for each in examined:
            for case_id, run in each.runs.items():
                if any(run.replicas):
                    raise GraderFault(f"{package.slug}: reference.py: replicas of one leaf differ, in {case_id}")
        _refuse(package, _unmatched(package, examined))
        return Prepared(tuple(cases), {}, examined)

    def _examine(
        self, package: Package, source: str, cases: Sequence[Case], stop: threading.Event | None
    ) -> tuple[Examined, ...]:
        with self._sandbox.open(self._spec(package), stop) as session:
            session.request({"op": "load", "source": source, "entry": package.manifest.entry})
            return examine(package, cases, self._sandbox, session, stop=stop).programs

    def _answers(self, package: Package, cases: Sequence[Case], stop: threading.Event | None) -> dict[str, Answer]:
        answers: dict[str, Answer] = {}
        try:
            with self._sandbox.open(self._spec(package), stop) as session:
                session.request({"op": "load", "source": package.reference, "entry": package.manifest.entry})
                for case in cases:
                    _, values = session.request({"op": "call"}, {"args": list(case.inputs.values())})
                    answers[case.id] = answer_of(values)
        except SubmissionFault as fault:
            raise GraderFault(f"{package.slug}: reference.py failed: {_told(fault)}") from None
        for case_id, answer in answers.items():
            if any(isinstance(leaf, wire.Foreign) for _, leaf in wire.leaves(answer.result)):
                raise GraderFault(f"{package.slug}: reference.py returns something other than arrays for {case_id}")
        return answers

    def _run_known(self, package: Package, prepared: Prepared, stop: threading.Event | None) -> tuple[Known, ...]:
        """Run those that come back with a wrong result; one that differs nowhere from the reference tells nothing."""
        if package.manifest.mode == "program":
            return self._examine_known(package, prepared, stop)
        wrong = [known for known in package.rejected if known.reason and known.reason.startswith("wrong_")]
        tolerances = package.manifest.tolerance
        found = []
        with self._sandbox.open(self._spec(package, share=max(1, len(wrong))), stop) as session:
            for submission in wrong:
                results = _results_of(session, package, submission, prepared.cases)
                if any(compare(prepared.answers[name].result, result, tolerances) for name, result in results.items()):
                    found.append(Known(submission.misunderstanding, results))
        return tuple(found)

    def _examine_known(self, package: Package, prepared: Prepared, stop: threading.Event | None) -> tuple[Known, ...]:
        """Those that come as far as a program. In a runner of their own each: tracing one may spoil the next."""
        found = []
        for submission in package.rejected:
            if submission.reason not in _WITHOUT_PROGRAM:
                try:
                    examined = self._examine(package, submission.source, prepared.cases, stop)
                except SubmissionFault as fault:
                    log.warning("%s: rejected/%s.py gives no program: %s", package.slug, submission.name, _told(fault))
                    continue
                # One that computes what is right is recognised by how it is built, another by what it computes.
                if submission.reason in _WRONG_RESULT:
                    found.append(Known(submission.misunderstanding, sketch_of(examined)))
                else:
                    pattern = pattern_of([each.measured for each in examined])
                    found.append(Known(submission.misunderstanding, {}, pattern))
        return tuple(found)


_WRONG_RESULT = {"wrong_value", "wrong_shape", "wrong_dtype", "wrong_structure"}


def runner_spec(package: Package) -> RunnerSpec:
    """The runner that a submission to this problem gets."""
    source = package.warmup or (_REHEARSAL.format(**_rehearsed(package)) if package.manifest.program else "")
    warmup = Warmup(package.version, source) if source else None
    return RunnerSpec(package.manifest.devices, package.manifest.limits, warmup)


# A program's starter is public and most often holds the whole `init`. What it compiles for the other meshes is kept for
# every runner; going through them again would cost each one more CPU time than it saves its submission.
_REHEARSAL = """{starter}

def warm():
    from grader.runner.export import rehearse

    rehearse(globals().get({init!r}), {meshes!r}[: 1 if compiled else None])
"""


def _rehearsed(package: Package) -> dict[str, Any]:
    program = package.manifest.program
    assert program is not None
    return {"starter": package.starter, "init": program.init, "meshes": program.meshes}


def _cases_of(package: Package, kind: str, values: dict[str, object]) -> list[Case]:
    made = values.get("cases")
    if not isinstance(made, list) or not 1 <= len(made) <= MAX_CASES or not all(_is_case(case) for case in made):
        raise GraderFault(
            f"{package.slug}: {kind}_cases in cases.py must make 1 to {MAX_CASES} dicts, argument name to value"
        )
    return [Case(f"{kind}-{number}", kind == "public", case) for number, case in enumerate(made, 1)]


def _results_of(
    session: Any, package: Package, submission: KnownSubmission, cases: Sequence[Case]
) -> dict[str, object]:
    try:
        session.request({"op": "load", "source": submission.source, "entry": package.manifest.entry})
    except SubmissionFault as fault:
        raise GraderFault(f"{package.slug}: submissions/rejected/{submission.name}.py failed: {_told(fault)}") from None
    results: dict[str, object] = {}
    for case in cases:
        try:
            _, values = session.request({"op": "call"}, {"args": list(case.inputs.values())})
        except SubmissionFault as fault:
            if fault.reason != "error":
                raise GraderFault(
                    f"{package.slug}: submissions/rejected/{submission.name}.py: {_told(fault)}"
                ) from None
            continue
        results[case.id] = values.get("result")
    return results


def _unmatched(package: Package, examined: Sequence[Examined]) -> list[str]:
    assert package.manifest.program is not None
    placed: set[str] = set()
    counted: set[str] = set()
    for each in (one.measured for one in examined):
        state, given, out = ({path for path, _ in leaves} for leaves in (each.state_in, each.given, each.out))
        placed |= state | out
        # As in `Subject.bytes_of`: what `step` returns are the leaves of the state once more.
        counted |= state | given | (set() if package.manifest.program.init else out)
    return unmatched_leaves(package.manifest, placed, counted)


def _refuse(package: Package, faults: list[str]) -> None:
    """Fail closed: a name that matches nothing guards nothing, so no submission may pass because of it."""
    if faults:
        raise GraderFault(f"{package.slug}: {'; '.join(faults)}")


def _told(fault: SubmissionFault) -> str:
    return f"{fault.detail.get('type', fault.reason)}: {fault}"


def _is_case(case: object) -> bool:
    return (
        isinstance(case, dict)
        and bool(case)
        and not any(isinstance(leaf, wire.Foreign) for _, leaf in wire.leaves(case))
    )
