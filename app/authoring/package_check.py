"""Applies every rule to a package: first those about its files, then those that need the judge.

The judge's part is that of a validation, and names the rule that each failed step breaks.
"""

import json
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from app.authoring.answer_check import wrong_verdicts
from app.authoring.measurement_check import AuthorJudge, Say, study_package
from app.authoring.validator import CASES, Fingerprints, has_cases, is_rendered, note_fingerprint
from app.grading.queue.protocol import Grader
from grader.core.context import Context
from grader.core.reasons import REASONS
from grader.package.budget import Budget, budget_from, together
from grader.package.fault import PackageFault
from grader.package.package import AnswerManifest, Package
from grader.package.variants import every_variant
from grader.review.mutants import PROPOSALS, Mutant, mutants_of
from grader.review.reader import has_budget, measured, with_budget
from grader.review.validation import Expectation, expectations, weigh
from grader.verdicts.fingerprint import Fingerprint
from grader.verdicts.package_study import PackageStudy
from grader.verdicts.pictures import Pictures
from grader.verdicts.verdict import Verdict


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """What the judge found in a package, and how many submissions it judged.

    `complete` is False if the grader failed, so that it is worth another try. `measured` has the numbers behind the
    faults, for `--json`. `fingerprints` are those of the rejected submissions, by name, and `budget` is what the
    accepted ones send; None if that is not bounded. `pictures` is what the problem's page draws; None if it is nothing.
    """

    faults: tuple[PackageFault, ...]
    submissions: int
    complete: bool
    measured: dict[str, Any] = field(default_factory=dict)
    fingerprints: Fingerprints = field(default_factory=dict)
    budget: Budget | None = None
    pictures: Pictures | None = None

    @property
    def has_errors(self) -> bool:
        return any(each.level == "error" for each in self.faults)


class FaultStore:
    """What the judge found earlier: one file for each version of a package, in a private folder.

    Args:
      environment: everything else that the faults depend on. Files of another environment are not read.
    """

    def __init__(self, folder: Path, environment: str) -> None:
        self._folder = folder
        self._environment = environment

    def get(self, package: Package) -> JudgeReport | None:
        try:
            stored = json.loads(self._file(package).read_text(encoding="utf-8"))
            if stored["environment"] != self._environment:
                return None
            faults = tuple(PackageFault(**each) for each in stored["faults"])
            fingerprints = {
                name: Fingerprint.model_validate(each) if each is not None else None
                for name, each in stored["fingerprints"].items()
            }
            budget = Budget.model_validate(stored["budget"], strict=False) if stored["budget"] else None
            drawn = stored["pictures"]
            pictures = Pictures.model_validate(drawn) if drawn else None
            return JudgeReport(faults, stored["submissions"], True, stored["measured"], fingerprints, budget, pictures)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, package: Package, judged: JudgeReport) -> None:
        """Store it, unless the grader failed."""
        if not judged.complete:
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        stored = {
            "environment": self._environment,
            "faults": [asdict(each) for each in judged.faults],
            "submissions": judged.submissions,
            "measured": judged.measured,
            "fingerprints": {name: each and each.stored() for name, each in judged.fingerprints.items()},
            "budget": judged.budget and judged.budget.model_dump(),
            "pictures": judged.pictures and judged.pictures.model_dump(),
        }
        draft = self._file(package).with_suffix(f".{os.getpid()}.{threading.get_ident()}.draft")
        draft.write_text(json.dumps(stored), encoding="utf-8")
        draft.replace(self._file(package))

    def _file(self, package: Package) -> Path:
        return self._folder / f"{package.slug}.{package.version}.json"


def judge_package(
    package: Package,
    grader: AuthorJudge,
    context: Context,
    executor: Executor,
    say: Say,
    *,
    runs: int = 1,
    is_thorough: bool = False,
) -> JudgeReport:
    """Apply the rules that need a judge, to each variant. Each submission is judged by a thread of `executor`.

    Args:
      say: called with each submission that was judged.
      runs: how often the reference is judged. Above 1, the rules about what is measured are applied too.
      is_thorough: measure accepted submissions on other inputs, too.
    Raises:
      WallMissing, Cancelled.
    """
    reports = {
        each.variant_name: _judge_variant(each, grader, context, executor, say, runs=runs, is_thorough=is_thorough)
        for each in every_variant(package)
    }
    return reports[None] if None in reports else _together({name or "": each for name, each in reports.items()})


def _together(reports: Mapping[str, JudgeReport]) -> JudgeReport:
    """What was found in all variants, by their names."""
    return JudgeReport(
        tuple(
            replace(fault, message=f"variant {name}: {fault.message}")
            for name, report in reports.items()
            for fault in report.faults
        ),
        sum(each.submissions for each in reports.values()),
        complete=all(each.complete for each in reports.values()),
        measured={name: each.measured for name, each in reports.items() if each.measured},
        fingerprints={name: found for each in reports.values() for name, found in each.fingerprints.items()},
        budget=together(budgets) if (budgets := [each.budget for each in reports.values() if each.budget]) else None,
    )


@dataclass(frozen=True, slots=True)
class _Judging:
    """Judges submissions side by side. `studies` has what the judge noted of each one, by its file."""

    grader: AuthorJudge
    context: Context
    executor: Executor
    say: Say
    studies: dict[str, PackageStudy] = field(default_factory=dict)

    def judge_all(self, some: Sequence[Expectation], package: Package) -> dict[str, Verdict]:
        """The verdicts, by file. The grader gets a second try where it fails."""
        running: dict[str, Future[Verdict]] = {
            each.file: self.executor.submit(self._judge, each, package) for each in some
        }
        try:
            return {file: each.result() for file, each in running.items()}
        finally:
            for each in running.values():
                each.cancel()

    def _judge(self, expected: Expectation, package: Package) -> Verdict:
        def note(study: PackageStudy) -> None:
            self.studies[expected.file] = study

        verdict = self.grader.judge(package, expected.source, self.context, watch=note)
        if verdict.status == "failed":
            verdict = self.grader.judge(package, expected.source, self.context, watch=note)
        self.say(expected.file)
        return verdict


def _unusable(
    package: Package, grader: AuthorJudge, context: Context, executor: Executor, say: Say
) -> PackageFault | None:
    """Why no submission can be judged: the page is not rendered, or there are no cases or questions."""
    rendered = is_rendered(package)
    if not rendered.passed:
        return PackageFault("page", rendered.file, None, rendered.message)
    cases = executor.submit(has_cases, package, grader, context).result()
    say(cases.file)
    if not cases.passed:
        return PackageFault("cases" if cases.file == CASES else "questions", cases.file, None, cases.message)
    return None


def _judge_variant(
    package: Package,
    grader: AuthorJudge,
    context: Context,
    executor: Executor,
    say: Say,
    *,
    runs: int,
    is_thorough: bool,
) -> JudgeReport:
    if (fault := _unusable(package, grader, context, executor, say)) is not None:
        return JudgeReport((fault,), 0, complete=True)
    if isinstance(package.manifest, AnswerManifest):
        return executor.submit(_judge_answers, package, grader, context).result()
    judging = _Judging(grader, context, executor, say)
    expected = expectations(package)
    # Wrong submissions are bounded by what right ones send, so those come first.
    right = [each for each in expected if each.accepted]
    by_file = judging.judge_all(right, package)
    budget = _budget_of(package, right, judging.studies)
    again = []
    if budget is not None and budget != package.budget:
        package = with_budget(package, budget)
        again = [each for each in right if by_file[each.file].status != "accepted"]
    by_file |= judging.judge_all([*again, *(each for each in expected if not each.accepted)], package)
    verdicts = [by_file[each.file] for each in expected]
    found = [each for pair in zip(expected, verdicts, strict=True) for each in _of_verdict(*pair)]
    if not found:
        # Only now: a submission that is wrong in another way than its folder says does not prove a check.
        found = _untested(package, verdicts)
    failed = any(each.status == "failed" for each in verdicts)
    fingerprints: Fingerprints = {}
    for promise, verdict in zip(expected, verdicts, strict=True):
        note_fingerprint(promise, verdict, fingerprints)
    report = JudgeReport(tuple(found), len(expected), complete=not failed, fingerprints=fingerprints, budget=budget)
    if runs == 1 or report.has_errors:
        return report
    found, measured = study_package(
        package, grader, context, executor, say, judging.studies, runs=runs, is_thorough=is_thorough
    )
    return replace(report, faults=(*report.faults, *found), measured=measured)


def _budget_of(package: Package, right: Sequence[Expectation], studies: Mapping[str, PackageStudy]) -> Budget | None:
    """What the accepted submissions and the reference send; None if that is not bounded."""
    if not has_budget(package.manifest):
        return None
    found = {
        each.file.removeprefix("submissions/").removesuffix(".py"): studies[each.file].traffic
        for each in right
        if each.file in studies
    }
    return budget_from(measured(package), found, package.variant_name) if found else None


def _judge_answers(package: Package, grader: AuthorJudge, context: Context) -> JudgeReport:
    """Answers are graded without running code, so there is nothing to repeat or to measure."""
    found = [PackageFault("questions", file, None, fault) for file, fault in wrong_verdicts(package, grader, context)]
    questions = grader.variants(package, context)
    for name in questions.always_right() if questions else ():
        found.append(
            PackageFault(
                "never-wrong", "mistakes.py", None, f"{name} gives the right answer to every question that was drawn"
            )
        )
    return JudgeReport(tuple(found), len(questions.variants) if questions else 0, complete=True)


def judge_mutants(
    package: Package, at_most: int, grader: Grader, context: Context, executor: Executor, say: Say
) -> JudgeReport:
    """Judge mutants of the reference: each one that is accepted is a mistake that nothing in the package finds.

    Args:
      at_most: how many, of all kinds in turn.
    Raises:
      WallMissing, Cancelled.
    """
    mutants = mutants_in(package, at_most)

    def judge(number: int, mutant: Mutant) -> Verdict:
        verdict = grader.judge(package, mutant.source, context)
        say(f"mutant {number} of {len(mutants)}")
        return verdict

    running = [executor.submit(judge, number, each) for number, each in enumerate(mutants, 1)]
    try:
        verdicts = [each.result() for each in running]
    finally:
        for future in running:
            future.cancel()
    found = [
        PackageFault("surviving-mutant", "reference.py", each.line, f"{each.change}. {PROPOSALS[each.kind]}")
        for each, verdict in zip(mutants, verdicts, strict=True)
        if verdict.status == "accepted"
    ]
    complete = all(each.status != "failed" for each in verdicts)
    if not complete:
        number = sum(each.status == "failed" for each in verdicts)
        found.append(
            PackageFault("grader", "reference.py", None, f"The grader failed on {number} of {len(mutants)} mutants.")
        )
    return JudgeReport(tuple(found), len(mutants), complete)


def mutants_in(package: Package, at_most: int) -> list[Mutant]:
    manifest = package.manifest
    inputs = manifest.program.inputs if manifest.mode == "program" else ()
    return mutants_of(package.reference, at_most, manifest.entry, inputs)


def _of_verdict(expected: Expectation, verdict: Verdict) -> list[PackageFault]:
    step = weigh(expected, verdict)
    if verdict.status == "failed":
        return [PackageFault("grader", expected.file, None, step.message)]
    if not step.passed:
        return [PackageFault(_rule_of(expected), expected.file, None, step.message)]
    is_caught = not (all(each.passed for each in verdict.cases) and all(each.passed for each in verdict.checks))
    if verdict.status == "rejected" and not is_caught:
        return [
            PackageFault("uncaught", expected.file, None, f"It is rejected ({verdict.reason}), but no case says why.")
        ]
    return []


def _rule_of(expected: Expectation) -> str:
    if expected.file in ("reference.py", "starter.py"):
        return expected.file.removesuffix(".py")
    return "accepted" if expected.accepted else "rejected"


def _untested(package: Package, verdicts: Sequence[Verdict]) -> list[PackageFault]:
    # One that ends early passes no check, whatever it computes.
    wrong = [each for each in verdicts if each.reason and REASONS[each.reason].has_program]
    # What this machine cannot check, nobody can fail here.
    failed = {check.id for verdict in wrong for check in verdict.checks if not (check.passed and check.checked)}
    return [
        PackageFault("untested-check", "problem.toml", None, f"no rejected submission fails the check '{check.id}'")
        for check in package.manifest.checks
        if check.points and check.id not in failed
    ]
