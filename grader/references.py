"""What a package's own code says: its cases, the reference's answers, and the outputs of known wrong submissions.

The first two are needed to grade, and are made for whoever comes first. Known wrong submissions only help to explain:
they are run while nothing is graded, and a wrong submission is compared with those that have been.

cases.py, reference.py and the known wrong submissions each run in a sandbox of their own, never beside a student's
submission, and only arrays come out. The answers are kept on disk by package version, versions of the JAX side, and
case; a file is a wire frame, so reading one executes nothing.
"""

import collections
import hashlib
import hmac
import importlib.metadata
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from grader import wire
from grader.case import Case
from grader.checks.call.outcome import Answer
from grader.context import Context, Stop
from grader.errors import GraderFault, SubmissionFault
from grader.idle import Idle
from grader.known import examine_source, has_wrong_result, run_known, runnable, told
from grader.likelihood import by_likelihood
from grader.modes.program.verify import Examined
from grader.package.names import unmatched_leaves, wrong_cases
from grader.package.package import KnownSubmission, Package, ProgramManifest
from grader.prepared import KnownMistake, Prepared, answer_of, load_known, load_prepared, store_known, store_prepared
from grader.sandbox.background import BackgroundSandbox
from grader.sandbox.protocol import RunnerSpec, Sandbox, Warmup
from grader.wire import MAX_CASES

# Of what is kept on disk; a new one where it is written otherwise, or measured otherwise (the verifier's options).
_FORMAT = "11"
_LOOK_S = 0.2


class References:
    """Makes and keeps what a package's code says. Threads may share one; nothing is run twice, however many ask.

    Args:
      idle: says when nothing is graded. What is asked for in the background waits for that, and is left to whoever
        asks for the same in the foreground meanwhile.
    """

    def __init__(self, sandbox: Sandbox, secret: bytes, cache: Path, idle: Idle | None = None) -> None:
        self._sandbox = sandbox
        self._secret = secret
        self._cache = cache
        self._idle = idle or Idle()
        self._prepared: dict[str, Prepared] = {}
        self._known: dict[tuple[str, str], KnownMistake] = {}
        self._locks: dict[tuple[str, str], threading.Lock] = {}
        self._background: dict[tuple[str, str], threading.Event] = {}
        self._wanted: collections.Counter[tuple[str, str]] = collections.Counter()
        self._guard = threading.Condition()

    def prepare(self, package: Package, context: Context, *, background: bool = False) -> Prepared:
        """Return the cases and answers of a package, from memory, from disk, or by running it.

        Raises:
          GraderFault: the package's own code failed; the message says which file and how.
          Cancelled: it was stopped, or somebody else asked for the same in the foreground.
        """
        with self._turn("prepared", package, context.stop, background) as (sandbox, stop):
            if package.version not in self._prepared:
                folder = self._cache / self._key(package)
                prepared = load_prepared(folder)
                if prepared is None:
                    context.progress("making the cases")
                    cases = self._cases(sandbox, package, stop)
                    context.progress("running the reference")
                    prepared = self._run_reference(sandbox, package, cases, stop)
                    store_prepared(folder, prepared)
                self._prepared[package.version] = prepared
            return self._prepared[package.version]

    def prepare_known(self, package: Package, context: Context) -> None:
        """Run all known wrong submissions of a package in the background. Raises as `prepare` does."""
        prepared = self.prepare(package, context, background=True)
        context.progress("running the known wrong submissions")
        for each in runnable(package):
            self._known_of(package, prepared, each, context.stop, background=True)

    def known(
        self, package: Package, source: str, context: Context, *, wrong_result: bool, at_most: int
    ) -> Iterator[KnownMistake]:
        """Yield what known wrong submissions return that have been run, those first that `source` is likeliest to be.

        Args:
          wrong_result: of those whose result is wrong; else of those that are built in a wrong way.
          at_most: so many that have not been run are run now.
        Raises as `prepare` does.
        """
        prepared = self.prepare(package, Context(stop=context.stop))
        candidates = [each for each in runnable(package) if has_wrong_result(each) == wrong_result]
        for each in by_likelihood(source, candidates):
            known = self._kept(package, each)
            if known is None and at_most > 0:
                at_most -= 1
                known = self._known_of(package, prepared, each, context.stop)
            if known is not None:
                yield known

    def _kept(self, package: Package, submission: KnownSubmission) -> KnownMistake | None:
        key = (package.version, submission.name)
        known = self._known.get(key) or load_known(self._cache / self._key(package), submission.name)
        if known is not None:
            self._known[key] = known
        return known

    def _known_of(
        self,
        package: Package,
        prepared: Prepared,
        submission: KnownSubmission,
        stop: Stop,
        *,
        background: bool = False,
    ) -> KnownMistake:
        with self._turn(submission.name, package, stop, background) as (sandbox, stop):
            known = self._kept(package, submission)
            if known is None:
                known = run_known(sandbox, self._spec(package), package, prepared, submission, stop)
                store_known(self._cache / self._key(package), submission.name, known)
                self._known[package.version, submission.name] = known
            return known

    @contextmanager
    def _turn(self, what: str, package: Package, stop: Stop, background: bool) -> Iterator[tuple[Sandbox, Stop]]:
        """One at a time; in the foreground at once, whatever is done in the background.

        Work in the background that had to give way comes back only when nobody in the foreground wants the same. Locks
        are not fair: it would have the lock again before the one that it gave way to, and wait for that one's end.
        """
        key = (what, package.version)
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
            if background:
                while self._wanted[key] and not stop.is_set():
                    self._guard.wait(_LOOK_S)
                own = self._background[key] = _Either(stop)
            else:
                self._wanted[key] += 1
                if key in self._background:
                    self._background[key].set()
        try:
            with lock:
                yield (BackgroundSandbox(self._sandbox, self._idle, own), own) if background else (self._sandbox, stop)
        finally:
            with self._guard:
                if background:
                    self._background.pop(key, None)
                else:
                    self._wanted[key] -= 1
                    self._guard.notify_all()

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

    def _cases(self, sandbox: Sandbox, package: Package, stop: Stop) -> list[Case]:
        cases: list[Case] = []
        try:
            with sandbox.open(self._spec(package), stop) as session:
                for kind, key in (("public", None), ("hidden", self._case_key(package))):
                    session.load(package.cases, f"{kind}_cases")
                    cases += _cases_of(package, kind, session.cases(key))
        except SubmissionFault as fault:
            raise GraderFault(f"{package.slug}: cases.py failed: {told(fault)}") from None
        _refuse(package, wrong_cases(package.manifest, package.reference, {case.id: case.inputs for case in cases}))
        return cases

    def _run_reference(self, sandbox: Sandbox, package: Package, cases: list[Case], stop: Stop) -> Prepared:
        manifest = package.manifest
        if manifest.mode == "call":
            return Prepared(tuple(cases), self._answers(sandbox, package, cases, stop))
        try:
            examined = examine_source(sandbox, self._spec(package), manifest, package.reference, cases, stop)
        except SubmissionFault as fault:
            raise GraderFault(f"{package.slug}: reference.py failed: {told(fault)}") from None
        for each in examined:
            for case_id, run in each.runs.items():
                if any(run.replicas):
                    raise GraderFault(f"{package.slug}: reference.py: replicas of one leaf differ, in {case_id}")
        _refuse(package, _unmatched(manifest, examined))
        return Prepared(tuple(cases), {}, examined)

    def _answers(self, sandbox: Sandbox, package: Package, cases: Sequence[Case], stop: Stop) -> dict[str, Answer]:
        answers: dict[str, Answer] = {}
        try:
            with sandbox.open(self._spec(package), stop) as session:
                session.load(package.reference, package.manifest.entry)
                for case in cases:
                    answers[case.id] = answer_of(session.call([*case.inputs.values()]))
        except SubmissionFault as fault:
            raise GraderFault(f"{package.slug}: reference.py failed: {told(fault)}") from None
        for case_id, answer in answers.items():
            if any(isinstance(leaf, wire.Foreign) for _, leaf in wire.leaves(answer.result)):
                raise GraderFault(f"{package.slug}: reference.py returns something other than arrays for {case_id}")
        return answers


class _Either(threading.Event):
    """Set by itself, or by setting the other one."""

    def __init__(self, other: Stop) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or self._other.is_set()


def runner_spec(package: Package) -> RunnerSpec:
    """The runner that a submission to this problem gets."""
    manifest, source = package.manifest, package.warmup
    if not source and manifest.mode == "program":
        program = manifest.program
        source = _REHEARSAL.format(starter=package.starter, init=program.init, meshes=program.meshes)
    warmup = Warmup(package.version, source) if source else None
    return RunnerSpec(manifest.devices, manifest.limits, warmup)


# A program's starter is public and most often holds the whole `init`.
_REHEARSAL = """{starter}

def warm():
    from grader.runner.export import rehearse

    rehearse(globals().get({init!r}), {meshes!r}, compiled=compiled)
"""


def _cases_of(package: Package, kind: str, made: object) -> list[Case]:
    if not isinstance(made, list) or not 1 <= len(made) <= MAX_CASES or not all(_is_case(case) for case in made):
        raise GraderFault(
            f"{package.slug}: {kind}_cases in cases.py must make 1 to {MAX_CASES} dicts, argument name to value"
        )
    return [Case(f"{kind}-{number}", kind == "public", case) for number, case in enumerate(made, 1)]


def _unmatched(manifest: ProgramManifest, examined: Sequence[Examined]) -> list[str]:
    placed: set[str] = set()
    counted: set[str] = set()
    for each in (one.measured for one in examined):
        state, given, out = ({path for path, _ in leaves} for leaves in (each.state_in, each.given, each.out))
        placed |= state | out
        # As in `Subject.bytes_of`: what `step` returns are the leaves of the state once more.
        counted |= state | given | (set() if manifest.program.init else out)
    return unmatched_leaves(manifest, placed, counted)


def _refuse(package: Package, faults: list[str]) -> None:
    """Fail closed: a name that matches nothing guards nothing, so no submission may pass because of it."""
    if faults:
        raise GraderFault(f"{package.slug}: {'; '.join(faults)}")


def _is_case(case: object) -> bool:
    return (
        isinstance(case, dict)
        and bool(case)
        and not any(isinstance(leaf, wire.Foreign) for _, leaf in wire.leaves(case))
    )
