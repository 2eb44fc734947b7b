"""Program mode: compile a source for every mesh of its problem, measure the programs, and run them.

The reference and a submission are treated alike: a runner exports, a verifier compiles and runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.core.case import Case
from grader.core.chips import CHIPS, ChipName
from grader.core.context import Context, Stop
from grader.core.errors import GraderFault, SubmissionFault
from grader.inputs.own_inputs import OwnInputs, draw_own
from grader.modes.mode import GradingRequest, Mode
from grader.modes.package_code import failed, make_cases, refuse, runner_spec
from grader.modes.program import reference_programs as stored
from grader.modes.program.chip_options import choose_options
from grader.modes.program.examine import examine
from grader.modes.program.full_size import full_size_function
from grader.modes.program.function_inspection import inspect_function
from grader.modes.program.grading import ProgramGrading
from grader.modes.program.on_chip import with_chip
from grader.modes.program.reference_programs import ProgramPrepared
from grader.modes.program.stable_cases import RUNS_OF_A_CASE, draw_steady
from grader.modes.program.verify import Examined
from grader.modes.submission import load_submission
from grader.package.package import Package, ProgramManifest
from grader.program.measurement import Leaves, Measured, OnFirst, mesh_name
from grader.review.names import unmatched_leaves
from grader.review.output_names import unmatched_outputs
from grader.sandbox.protocol import RunnerSpec, Sandbox

# A starter is public and usually contains the whole `init`.
_REHEARSAL = """{starter}

def warm():
    from grader.runner.export import rehearse

    rehearse(globals().get({init!r}), {meshes!r}, compiled=compiled)
"""


def rehearsing_runner(package: Package, manifest: ProgramManifest) -> RunnerSpec:
    """The runner for submissions. It is warmed by the package's warmup.py, or else by the starter's `init`."""
    program = manifest.program
    return runner_spec(package, _REHEARSAL.format(starter=package.starter, init=program.init, meshes=program.meshes))


class ProgramMode(Mode[ProgramPrepared]):
    """See `Mode`. No submission's process receives a hidden input, so all attempts share the hidden inputs."""

    def __init__(self, package: Package, manifest: ProgramManifest, sandbox: Sandbox) -> None:
        self._package = package
        self._manifest = manifest
        self._sandbox = sandbox
        self._spec = rehearsing_runner(package, manifest)

    def warm(self) -> None:
        # Warm a verifier, too: otherwise, the first program after a start would wait a second and a half for it.
        self._sandbox.warm(RunnerSpec(self._spec.devices, self._spec.limits, program="verify"))
        self._sandbox.warm(self._spec)

    def prepare(self, sandbox: Sandbox, key: str, context: Context) -> ProgramPrepared:
        # The package's limit on output is for one run of its cases, but here their neighbours are run as well.
        limits = self._manifest.limits
        wider = self._manifest.model_copy(
            update={"limits": limits.model_copy(update={"output_mb": limits.output_mb * RUNS_OF_A_CASE})}
        )

        def draw(key: str) -> tuple[Case, ...]:
            context.progress("making the cases")
            return make_cases(sandbox, self._spec, self._package, key, context.stop)

        def examined_on(cases: tuple[Case, ...]) -> tuple[Examined, ...]:
            context.progress("running the reference")
            return self._examine(sandbox, self._package.reference, cases, context.stop, wider)

        try:
            cases, examined = draw_steady(draw, examined_on, key, self._manifest.tolerances)
        except SubmissionFault as fault:
            raise failed(self._package, "reference.py", fault) from None
        for each in examined:
            for case_id, run in each.runs.items():
                if any(run.replicas):
                    raise GraderFault(f"{self._package.slug}: reference.py: replicas of one leaf differ, in {case_id}")
        refuse(self._package, _unmatched(self._manifest, [each.measured for each in examined]))
        runs = [run for each in examined for run in each.runs.values()]
        outputs = [each for run in runs for part in (run.init, *run.steps) for each in part.items()]
        refuse(self._package, unmatched_outputs(self._manifest, outputs))
        return ProgramPrepared(cases, examined, self._full_size(sandbox, examined, context))

    def prepare_own(self, prepared: ProgramPrepared, own: OwnInputs, context: Context) -> ProgramPrepared:
        context.progress("drawing your inputs")
        on_own = self._prepare_on(_on_mesh(self._manifest, own), draw_own(prepared.cases, own), context)
        return replace(on_own, full_size=prepared.full_size)

    def prepare_cases(self, cases: Sequence[Case], context: Context) -> ProgramPrepared:
        return self._prepare_on(self._manifest, tuple(cases), context)

    def answers(self, prepared: ProgramPrepared) -> dict[str, dict[str, Leaves]]:
        found: dict[str, dict[str, Leaves]] = {}
        for each in prepared.examined:
            runs = {case_id: run.steps[-1] for case_id, run in each.runs.items()}
            found.setdefault(mesh_name(each.measured.mesh), {}).update(runs)
        return found

    def store(self, folder: Path, prepared: ProgramPrepared) -> None:
        stored.store(folder, prepared)

    def load(self, folder: Path) -> ProgramPrepared | None:
        return stored.load(folder)

    def begin(self, prepared: ProgramPrepared, request: GradingRequest) -> ProgramGrading:
        manifest = _on_mesh(self._manifest, request.own) if request.own else self._manifest
        return ProgramGrading(manifest, self._package, prepared, request, self._sandbox, self._spec)

    def inspect(
        self,
        prepared: ProgramPrepared,
        source: str,
        context: Context,
        chip: ChipName | None,
        options: Mapping[str, str],
        on_first: OnFirst | None = None,
    ) -> tuple[Measured, ...]:
        found = choose_options(chip, options, source)

        def with_remarks(each: Examined) -> Measured:
            return replace(each.measured, remarks=(*each.measured.remarks, *found.remarks))

        def pass_on(each: Examined) -> None:
            if on_first is not None:
                on_first(with_remarks(each))

        cases = [case for case in prepared.cases if case.public]
        with self._sandbox.open(self._spec, context.stop) as session:
            context.progress("importing")
            load_submission(session, source, self._manifest.entry, modules=self._package.helpers)
            lowerings = [] if chip is None else [CHIPS[chip].lowering]
            is_all = chip is None and len(self._manifest.program.meshes) == 1
            examined = examine(
                self._manifest,
                cases,
                self._sandbox,
                session,
                context,
                listing=True,
                lowerings=lowerings,
                on_first=None if is_all else pass_on,
            )
        return tuple(
            with_chip(with_remarks(each), chip, self._sandbox, context, found.options) for each in examined.programs
        )

    def _full_size(self, sandbox: Sandbox, examined: Sequence[Examined], context: Context) -> Measured | None:
        """The reference's program at full size. Raises GraderFault if it has none."""
        if self._manifest.program.full_size is None:
            return None
        try:
            return self._at_full_size(sandbox, self._package.reference, examined, context)
        except SubmissionFault as fault:
            raise failed(self._package, "reference.py", fault) from None

    def _at_full_size(self, sandbox: Sandbox, source: str, examined: Sequence[Examined], context: Context) -> Measured:
        function = full_size_function(self._manifest, examined[0].measured, self._package.helpers)
        return inspect_function(function, sandbox, source, context, of_problem=True)

    def _prepare_on(self, manifest: ProgramManifest, cases: tuple[Case, ...], context: Context) -> ProgramPrepared:
        try:
            examined = self._examine(self._sandbox, self._package.reference, cases, context.stop, manifest)
        except SubmissionFault as fault:
            raise failed(self._package, "reference.py", fault) from None
        return ProgramPrepared(cases, examined)

    def _examine(
        self,
        sandbox: Sandbox,
        source: str,
        cases: Sequence[Case],
        stop: Stop,
        manifest: ProgramManifest | None = None,
    ) -> tuple[Examined, ...]:
        """The programs of one of the package's own sources, on every mesh. Raises the errors of `examine`."""
        manifest = manifest or self._manifest
        with sandbox.open(self._spec, stop) as session:
            session.load(source, manifest.entry, modules=self._package.helpers)
            return examine(manifest, cases, sandbox, session, Context(stop=stop)).programs


def _on_mesh(manifest: ProgramManifest, own: OwnInputs) -> ProgramManifest:
    """The manifest with only the chosen mesh.

    Raises:
      GraderFault: the problem does not have this mesh.
    """
    if own.mesh is None:
        return manifest
    if own.mesh not in manifest.program.meshes:
        raise GraderFault(f"{manifest.slug} has no mesh {mesh_name(own.mesh)}")
    return manifest.model_copy(update={"program": manifest.program.model_copy(update={"meshes": [own.mesh]})})


def _unmatched(manifest: ProgramManifest, programs: Sequence[Measured]) -> list[str]:
    placed: set[str] = set()
    counted: set[str] = set()
    for each in programs:
        state, given, out = ({path for path, _ in leaves} for leaves in (each.state_in, each.given, each.out))
        placed |= state | out
        # As in `Subject.bytes_of`, the leaves that `step` returns are not counted again.
        counted |= state | given | (set() if manifest.program.init else out)
    return unmatched_leaves(manifest, placed, counted)
