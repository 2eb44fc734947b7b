"""Validates versions with the judge, and draws the questions of published ones."""

import logging
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial

from app.authoring.answer_check import wrong_verdicts
from app.authoring.models import ValidationRow
from app.authoring.package_pictures import draw_package
from app.authoring.question_drawing import QuestionDrawing
from app.core.background_loop import Loop
from app.core.bounded_calls import BoundedCallFailed, LimitExceeded, bounded_in_thread
from app.core.database import Database
from app.core.errors import PackageNotStored
from app.core.web.markdown import parse_texts
from app.grading.queue.jobs import Job, Jobs
from app.grading.queue.protocol import Grader
from app.grading.queue.threads import GradingThreads
from app.grading.queue.walls import Walls
from app.problems.package_store import PackageStore
from app.problems.rendered_texts import CPU_S, texts_of, too_complex
from grader.core.context import Context
from grader.core.errors import GraderFault, WallMissing
from grader.mistakes.known_mistakes import stored_name, updated
from grader.package.package import AnswerManifest, Package
from grader.package.variants import every_variant
from grader.review.validation import Expectation, ValidationStep, expectations, leaks, weigh
from grader.verdicts.fingerprint import Fingerprint
from grader.verdicts.pictures import Pictures
from grader.verdicts.verdict import Verdict

log = logging.getLogger(__name__)
CASES, QUESTIONS = "cases.py", "questions.py"
Step = Callable[[Grader, Context], ValidationStep]
Fingerprints = dict[str, Fingerprint | None]


def steps_of(package: Package, found: Fingerprints | None = None) -> list[Step]:
    """All steps of a validation, the cheapest first. Each is called in a thread.

    Args:
      found: takes the fingerprints of the rejected submissions.
    """
    found = {} if found is None else found
    return [step for each in every_variant(package) for step in _steps_of_variant(each, found)]


def _steps_of_variant(package: Package, found: Fingerprints) -> list[Step]:
    steps: list[Step] = [
        lambda grader, context: is_rendered(package),
        lambda grader, context: _keeps_its_secrets(package),
        lambda grader, context: has_cases(package, grader, context),
        *([partial(_answers_itself, package)] if isinstance(package.manifest, AnswerManifest) else []),
        *(partial(_is_judged, package, each, found) for each in expectations(package)),
    ]
    return steps if package.variant is None else [partial(_of_variant, package.variant.name, each) for each in steps]


def _of_variant(name: str, step: Step, grader: Grader, context: Context) -> ValidationStep:
    done = step(grader, context)
    return replace(done, message=f"Variant {name}: {done.message}")


def is_rendered(package: Package) -> ValidationStep:
    for name, texts in texts_of(package).items():
        try:
            bounded_in_thread(parse_texts, texts, cpu_s=CPU_S)
        except LimitExceeded as fault:
            return ValidationStep(name, False, f"{too_complex(name, str(fault))}.")
        except BoundedCallFailed as fault:  # the page would fail with it too
            return ValidationStep(name, False, f"Showing it as a page failed: {fault}.")
    return ValidationStep("statement.md", True, "It can be shown as a page, and so can hints.md and editorial.md.")


def _keeps_its_secrets(package: Package) -> ValidationStep:
    if secrets := leaks(package):
        return ValidationStep("starter.py", False, f"Public files reveal secrets: {'; '.join(map(str, secrets))}.")
    return ValidationStep("starter.py", True, "No public file reveals the reference or the hidden inputs.")


def has_cases(package: Package, grader: Grader, context: Context) -> ValidationStep:
    try:
        grader.prepare(package, context)
    except WallMissing:
        raise
    except GraderFault as fault:
        file = QUESTIONS if isinstance(package.manifest, AnswerManifest) else CASES
        return ValidationStep(file, False, f"This version cannot judge anything: {fault}")
    if isinstance(package.manifest, AnswerManifest):
        return ValidationStep(QUESTIONS, True, "The questions can be drawn and answered.")
    return ValidationStep(CASES, True, "The cases can be generated, and the reference solves each of them.")


def _answers_itself(package: Package, grader: Grader, context: Context) -> ValidationStep:
    for file, fault in wrong_verdicts(package, grader, context):
        return ValidationStep(file, False, fault)
    return ValidationStep("mistakes.py", True, "Right answers are accepted, and known wrong formulas recognized.")


def _is_judged(
    package: Package, expected: Expectation, found: Fingerprints, grader: Grader, context: Context
) -> ValidationStep:
    verdict = grader.judge(package, expected.source, context)
    note_fingerprint(expected, verdict, found)
    return weigh(expected, verdict)


def note_fingerprint(expected: Expectation, verdict: Verdict, found: Fingerprints) -> None:
    """Take the fingerprint of a known wrong submission, by its `stored_name`."""
    if expected.reason is not None and verdict.status == "rejected":
        name = expected.file.removeprefix("submissions/rejected/").removesuffix(".py")
        found[stored_name(name, verdict.variant)] = verdict.fingerprint


class Validator:
    """Validates what was requested: `jobs`. Its `loop` draws questions."""

    def __init__(self, database: Database, grader: Grader, packages: PackageStore, walls: Walls) -> None:
        self._grader = grader
        self._packages = packages
        self._walls = walls
        self.jobs = [Jobs(ValidationRow, self._validate, is_long=True)]
        self.loop = Loop("drawing questions", self._draw, idle_pause_s=10.0)
        self._drawing = QuestionDrawing(database, grader, packages, GradingThreads(1).run)

    async def _draw(self) -> None:
        if not self._walls.are_up:
            return
        stop = threading.Event()
        try:
            await self._drawing.draw(Context(stop=stop))
        except WallMissing as missing:
            self._walls.record(missing)
        finally:
            stop.set()

    async def _validate(self, job: Job[ValidationRow]) -> None:
        steps: list[ValidationStep] = []
        found: Fingerprints = {}
        # A validation that was interrupted starts again from its first step.
        await job.write(steps=[])
        if job.is_given_up:
            steps.append(ValidationStep("reference.py", False, f"The grader died {job.deaths} times."))
        else:
            try:
                package = await self._packages.get(job.row.version)
            except PackageNotStored as error:
                steps.append(ValidationStep("problem.toml", False, f"It cannot be read: {error}."))
                package = None
            for step in steps_of(package, found) if package else ():
                done = await job.call(partial(step, self._grader, job.context), _failed)
                if done is None:
                    return
                steps.append(done)
                if done.file in (CASES, QUESTIONS) and not done.passed:
                    break
                if not await job.write(steps=[asdict(each) for each in steps]):
                    return
            if package is not None and found:
                await self._packages.put_known(package.version, updated(package, found))
            if package is not None and all(each.passed for each in steps):
                draw = partial(draw_package, package, self._grader, job.context)
                pictures = await job.call(draw, _not_drawn)
                if pictures is not None:
                    await self._packages.put_pictures(package.version, pictures)
        await job.finish(steps=[asdict(each) for each in steps])


def _not_drawn(error: Exception) -> Pictures | None:
    """None: a page without pictures is not a reason to refuse a package. The error is in the log."""
    return None


def _failed(error: Exception) -> ValidationStep:
    return ValidationStep("reference.py", False, f"The grader failed: {type(error).__name__}. Validate again.")
