"""Call mode: the entry point is called once per case, and its results are compared with the reference's answers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from grader.checks.call_outcome import Answer
from grader.core import wire
from grader.core.case import Case
from grader.core.context import Context, Stop
from grader.core.errors import GraderFault, SubmissionFault
from grader.core.wire import leaves
from grader.inputs.own_inputs import OwnInputs, draw_own, typed_case
from grader.modes.call import reference_answers as stored
from grader.modes.call.call_arguments import answers_of, wrong_arguments
from grader.modes.call.grading import CallGrading
from grader.modes.call.hidden_cases import HiddenCaseDraws
from grader.modes.call.reference_answers import CallPrepared
from grader.modes.mode import GradingRequest, Mode
from grader.modes.package_code import failed, fault_text, make_cases, refuse, runner_spec
from grader.package.package import CallManifest, Package
from grader.program.measurement import Leaves
from grader.review.output_names import unmatched_outputs, unmatched_parts
from grader.sandbox.protocol import Sandbox
from grader.verdicts.package_study import OBSERVED


class CallMode(Mode[CallPrepared]):
    """See `Mode`. Attempts get their own hidden inputs from `draws`."""

    def __init__(self, package: Package, manifest: CallManifest, sandbox: Sandbox, draws: HiddenCaseDraws) -> None:
        self._package = package
        self._manifest = manifest
        self._sandbox = sandbox
        self._draws = draws
        self._spec = runner_spec(package)

    def warm(self) -> None:
        self._sandbox.warm(self._spec)

    def prepare(self, sandbox: Sandbox, key: str, context: Context) -> CallPrepared:
        context.progress("making the cases")
        cases = make_cases(sandbox, self._spec, self._package, key, context.stop)
        refuse(self._package, wrong_arguments(self._manifest, cases))
        context.progress("running the reference")
        answers = self._answers(sandbox, cases, context.stop)
        outputs = [each for answer in answers.values() for each in leaves(answer.result)]
        faults = unmatched_outputs(self._manifest, outputs)
        faults += unmatched_parts(self._manifest, {id: answer.result for id, answer in answers.items()})
        refuse(self._package, faults)
        return CallPrepared(cases, answers)

    def prepare_own(self, prepared: CallPrepared, own: OwnInputs, context: Context) -> CallPrepared:
        context.progress("drawing your inputs")
        specs = self._manifest.inputs
        cases = typed_case(prepared.cases, own, specs) if own.values else draw_own(prepared.cases, own)
        try:
            return CallPrepared(cases, self._answered(self._sandbox, cases, context.stop))
        except SubmissionFault as fault:
            why = f"The reference fails on these inputs, so there is nothing to compare with: {fault_text(fault)}."
            raise SubmissionFault(fault.reason, f"{why} Choose other values.") from None

    def prepare_cases(self, cases: Sequence[Case], context: Context) -> CallPrepared:
        return CallPrepared(tuple(cases), self._answers(self._sandbox, tuple(cases), context.stop))

    def answers(self, prepared: CallPrepared) -> dict[str, dict[str, Leaves]]:
        return {"": {case_id: _numbers(answer) for case_id, answer in prepared.answers.items()}}

    def store(self, folder: Path, prepared: CallPrepared) -> None:
        stored.store(folder, prepared)

    def load(self, folder: Path) -> CallPrepared | None:
        return stored.load(folder)

    def begin(self, prepared: CallPrepared, request: GradingRequest) -> CallGrading:
        hidden_cases = None
        if request.draw is not None and request.hidden:
            everybodys = [case for case in prepared.cases if not case.public]
            hidden_cases = self._draws.begin(
                self._package, self._manifest, request.draw, everybodys, request.context.stop
            )
        return CallGrading(self._package, self._manifest, prepared, hidden_cases, request, self._sandbox, self._spec)

    def _answers(self, sandbox: Sandbox, cases: tuple[Case, ...], stop: Stop) -> dict[str, Answer]:
        try:
            return self._answered(sandbox, cases, stop)
        except SubmissionFault as fault:
            raise failed(self._package, "reference.py", fault) from None

    def _answered(self, sandbox: Sandbox, cases: tuple[Case, ...], stop: Stop) -> dict[str, Answer]:
        """Like `_answers`, but raise SubmissionFault if the reference fails, as typed inputs can make it do."""
        package = self._package
        with sandbox.open(self._spec, stop) as session:
            session.load(package.reference, self._manifest.entry, modules=package.helpers)
            answers = answers_of(session, self._manifest, cases)
        for case_id, answer in answers.items():
            if any(isinstance(leaf, wire.Foreign) for _, leaf in wire.leaves(answer.result)):
                raise GraderFault(f"{package.slug}: reference.py returns something other than arrays for {case_id}")
        return answers


def _numbers(answer: Answer) -> Leaves:
    found = [*leaves(answer.result), *((f"{OBSERVED}{path}", each) for path, each in leaves(answer.observed))]
    return {path: np.asarray(each) for path, each in found if isinstance(each, np.ndarray | bool | int | float)}
