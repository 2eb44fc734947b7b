"""Program mode: check the submission's compiled programs against the reference's, and compute their cost."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from grader import checks
from grader.checks.compare import compare
from grader.checks.program.values import message_of
from grader.checks.program_subject import FullSizeProgram, Pair, Result, Subject, compare_runs, excess_of_runs
from grader.checks.topology import FullSizeBounds, slices_in
from grader.core.chips import slice_of
from grader.core.context import Context
from grader.core.errors import GraderFault, SubmissionFault
from grader.core.reasons import Reason
from grader.modes.explanation import explanation
from grader.modes.mode import GradingRequest
from grader.modes.program.examine import examine
from grader.modes.program.full_size import full_size_function
from grader.modes.program.function_inspection import inspect_function
from grader.modes.program.on_chip import compile_for
from grader.modes.program.program_fingerprint import full_size_pattern, pattern_of, results_of, without_init
from grader.modes.program.reference_programs import ProgramPrepared
from grader.modes.program.verify import Examined
from grader.modes.submission import RunnerGrading
from grader.package.package import KnownSubmission, Package, ProgramManifest
from grader.program.collective_uses import traffic_of
from grader.program.measurement import Measured, Run, mesh_name
from grader.program.on_chip import OnChip
from grader.sandbox.protocol import RunnerSpec, Sandbox, Session
from grader.verdicts.fingerprint import Fingerprint
from grader.verdicts.package_study import ProgramTraffic
from grader.verdicts.verdict import CaseResult, CostName, Efficiency, EfficiencyPart, Verdict

# Both costs get these bytes added. Otherwise, if the reference sends nothing, any byte would be infinitely bad.
_SMALL = 1024


class ProgramGrading(RunnerGrading):
    """Grades one submission."""

    def __init__(
        self,
        manifest: ProgramManifest,
        package: Package,
        prepared: ProgramPrepared,
        request: GradingRequest,
        sandbox: Sandbox,
        spec: RunnerSpec,
    ) -> None:
        super().__init__(request, sandbox, spec)
        self._manifest = manifest
        self._package = package
        self._helpers = package.helpers
        self._prepared = prepared

    def _grade(self, session: Session) -> Verdict:
        report, manifest, request = self._report, self._manifest, self._request
        cases = [case for case in self._prepared.cases if case.public or request.hidden]
        self._load(session, manifest.entry, self._helpers)
        started = time.monotonic()
        try:
            examined = examine(manifest, cases, self._sandbox, session, self._context)
        finally:
            report.run_s = time.monotonic() - started
        report.run_s = examined.export_s
        output = session.output()
        mine = examined.programs
        on_chip = self._on_chip([each.measured for each in mine])
        full_size = self._full_size(mine[0].measured)
        self._context.progress("comparing")
        subject = replace(self._subject(mine, self._prepared.examined), on_chip=on_chip, full_size=full_size)
        for each in subject.results if request.watch is not None else ():
            error = excess_of_runs(each.expected, each.got, manifest.tolerances)
            self._errors[mesh_name(each.mesh)] = max(error, self._errors.get(mesh_name(each.mesh), 0.0))
        if request.watch is not None:
            self._traffic = tuple(map(_traffic_of, subject.pairs))
        findings = {spec.id: checks.load("program", spec.id).check(subject, spec.bounds) for spec in manifest.checks}
        misconception = efficiency = fingerprint = None
        if all(finding.passed for finding in findings.values()):
            efficiency = explanation(f"efficiency of {manifest.slug}", lambda: efficiency_of(subject.pairs))
        else:
            is_right = findings["values"].passed
            fingerprint = explanation(
                f"fingerprint of {manifest.slug}", lambda: _fingerprint_of(mine, subject, is_right=is_right)
            )
        if fingerprint is not None:
            reason = next((finding.reason for finding in findings.values() if finding.reason), None)
            misconception = explanation(
                f"misconception of {manifest.slug}", lambda: self._misconception(fingerprint, reason, mine, subject)
            )
        report.verify_s = time.monotonic() - started - report.run_s
        results = [_case_result(case.id, case.public, subject.results) for case in cases]
        verdict = report.verdict(findings, results, output, misconception=misconception, efficiency=efficiency)
        return verdict.with_fingerprint(fingerprint)

    def _misconception(
        self, fingerprint: Fingerprint, reason: Reason | None, mine: Sequence[Examined], subject: Subject
    ) -> str | None:
        # If results are right, only programs are compared, and most hidden cases have the program of a public one.
        has_more = self._request.hidden and (bool(fingerprint.results) or not all(map(_is_public, subject.pairs)))
        return self._request.known.explain(
            fingerprint, reason, lambda known: self._is_same(known, mine, subject), has_more=has_more
        )

    def _is_same(self, known: KnownSubmission, mine: Sequence[Examined], subject: Subject) -> bool:
        """Whether a known wrong submission returns the same in all cases or, if that is right, has equal programs."""
        cases = [case for case in self._prepared.cases if case.public or self._request.hidden]
        try:
            with self._sandbox.open(self._spec, self._context.stop) as session:
                session.load(known.source, self._manifest.entry, modules=self._helpers)
                theirs = examine(self._manifest, cases, self._sandbox, session, Context(stop=self._context.stop))
        except SubmissionFault:
            return False
        if any(result.mismatch for result in subject.results):
            return all(
                compare(one, other, self._manifest.tolerances) is None
                for their, each in zip(theirs.programs, mine, strict=True)
                for name, run in each.runs.items()
                for one, other in zip(_returned(their.runs[name]), _returned(run), strict=True)
            )
        usual = pattern_of([pair.reference for pair in subject.pairs])
        patterns = [
            without_init(pattern_of([each.measured for each in examined]), usual)
            for examined in (theirs.programs, mine)
        ]
        # Compiling at full size takes minutes, so it is not done only to explain a rejection.
        return subject.full_size is None and patterns[0] == patterns[1]

    def _on_chip(self, mine: Sequence[Measured]) -> dict[str, OnChip]:
        """Compile the programs for the slices that checks name, once for each slice."""
        found: dict[str, OnChip] = {}
        for spec in self._manifest.checks:
            for topology in slices_in(spec.bounds):
                if topology in found:
                    continue
                chip, devices = slice_of(topology)
                measured = next((each for each in mine if each.facts.devices == devices), None)
                if measured is None:
                    fault = f"Not checked: {topology} has {devices} chips, and this run has no such mesh."
                    found[topology] = OnChip(topology, None, fault, tried=False)
                else:
                    found[topology] = compile_for(chip, measured, self._sandbox, self._context)
        return found

    def _full_size(self, small: Measured) -> FullSizeProgram | None:
        """Compile the program at full size if a check reads it, and for slices if the attempt can still pass.

        Args:
          small: one of the submission's programs, which has the names and dtypes of the arguments.
        """
        full_size = (each.bounds for each in self._manifest.checks if isinstance(each.bounds, FullSizeBounds))
        bounds = next(full_size, None)
        if bounds is None:
            return None
        function = full_size_function(self._manifest, small, self._helpers)
        reference = self._prepared.full_size
        if reference is None:
            raise GraderFault(f"{self._manifest.slug}: the reference was not compiled at full size")
        try:
            program = inspect_function(function, self._sandbox, self._request.source, self._context, of_problem=True)
        except SubmissionFault as fault:
            return FullSizeProgram(reference, None, fault)
        chips = {topology: slice_of(topology)[0] for topology in bounds.topology}
        # This takes minutes, and a program that does not fit according to the CPU compiler is rejected anyway.
        if not self._request.hidden or any(program.needed_bytes > chip.hbm_bytes for chip in chips.values()):
            return FullSizeProgram(reference, program)
        on_chip = {
            topology: compile_for(chip, program, self._sandbox, self._context, background=True)
            for topology, chip in chips.items()
        }
        return FullSizeProgram(reference, program, on_chip=on_chip)

    def _subject(self, mine: Sequence[Examined], reference: Sequence[Examined]) -> Subject:
        pairs, results = [], []
        for got in mine:
            expected = _counterpart(got, reference)
            _check_inputs(got.measured, expected.measured)
            pairs.append(Pair(got.measured, expected.measured, tuple(case.id for case in got.cases)))
            for case in got.cases:
                where, mismatch = compare_runs(expected.runs[case.id], got.runs[case.id], self._manifest.tolerances)
                mesh = got.measured.mesh
                results.append(Result(case, mesh, expected.runs[case.id], got.runs[case.id], where, mismatch))
        return Subject(
            self._manifest.program,
            self._manifest.tolerances,
            tuple(pairs),
            tuple(results),
            budget=self._package.budget,
            variant=self._package.variant_name,
        )


def efficiency_of(pairs: Iterable[Pair]) -> Efficiency | None:
    """The cost of a program relative to the reference's, over all meshes. None if something cannot be counted."""
    pairs = list(pairs)
    parts = []
    for name, count in _COSTS.items():
        mine = [count(pair.mine) for pair in pairs]
        reference = [count(pair.reference) for pair in pairs]
        if None in mine or None in reference:
            return None
        ours, theirs = sum(filter(None, mine)), sum(filter(None, reference))
        ratio = (ours + _SMALL) / (theirs + _SMALL)
        parts.append(EfficiencyPart(name=name, mine=ours, reference=theirs, ratio=round(ratio, 6)))
    cost = sum(part.ratio for part in parts) / len(parts)
    return Efficiency(score=round(100 / cost, 2), parts=parts)


_COSTS: dict[CostName, Callable[[Measured], int | None]] = {
    "ring_bytes": lambda measured: None if (traffic := traffic_of(measured)) is None else traffic.sent,
    # Making an array a constant of the program saves no memory, because constants are stored, too.
    "temporary_bytes": lambda measured: measured.facts.memory.temporary_bytes + measured.facts.census.constant_bytes,
    "dot_flops": lambda measured: measured.facts.census.dot_flops,
}


def _traffic_of(pair: Pair) -> ProgramTraffic:
    return ProgramTraffic(mesh_name(pair.mine.mesh), pair.cases, traffic_of(pair.mine), traffic_of(pair.reference))


def _check_inputs(mine: Measured, reference: Measured) -> None:
    """Check that the inputs have the grader's shardings, because a submission's process could export others.

    Raises:
      SubmissionFault: `wrong_sharding`.
    """
    for (name, got), (_, expected) in zip(mine.given, reference.given, strict=True):
        if got.slices != expected.slices:
            raise SubmissionFault(
                "wrong_sharding",
                f"On mesh {mesh_name(mine.mesh)}, the program takes {name} as {got.spec}, but it receives {name} as "
                f"{expected.spec}. A program cannot choose the sharding of its inputs.",
            )


def _counterpart(got: Examined, reference: Sequence[Examined]) -> Examined:
    """The reference's program for the same mesh and cases. In a run, the reference has more cases."""
    wanted = {case.id for case in got.cases}
    for each in reference:
        if each.measured.mesh == got.measured.mesh and wanted <= each.runs.keys():
            return each
    raise GraderFault("the reference has no program for this mesh and these cases")


def _fingerprint_of(mine: Sequence[Examined], subject: Subject, *, is_right: bool) -> Fingerprint:
    """Return the fingerprint of the results if they are wrong, otherwise that of how the programs are built."""
    if not is_right:
        shown = any(result.mismatch is not None for result in subject.results if result.case.public)
        return Fingerprint(results=results_of(mine), shown=shown)
    pairs = [pair for pair in subject.pairs if _is_public(pair)]
    pattern = pattern_of([pair.mine for pair in pairs])
    usual = pattern_of([pair.reference for pair in pairs])
    if subject.full_size is not None:
        if subject.full_size.program is None:
            # The submission's programs at the small size are right, so they identify nothing.
            return Fingerprint()
        pattern |= full_size_pattern(subject.full_size.program)
        usual |= full_size_pattern(subject.full_size.reference)
    pattern = without_init(pattern, usual)
    return Fingerprint(pattern=pattern, shown=pattern != usual)


def _is_public(pair: Pair) -> bool:
    return any(case.startswith("public") for case in pair.cases)


def _returned(run: Run) -> list[object]:
    return [*run.steps, *run.replicas]


def _case_result(case_id: str, public: bool, results: Sequence[Result]) -> CaseResult:
    wrong = next((result for result in results if result.case.id == case_id and result.mismatch), None)
    if wrong is None:
        return CaseResult(id=case_id, public=public, passed=True, message="Agrees with the reference on every mesh.")
    message = message_of(wrong)
    return CaseResult(id=case_id, public=public, passed=False, message=message[0].upper() + message[1:])
