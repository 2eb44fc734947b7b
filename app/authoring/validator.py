"""Validates versions with the judge, and draws the questions of published ones. Each process that grades does one at a
time, in a separate thread.
"""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, and_, select

from app.authoring.answering import wrong_verdicts
from app.authoring.drawing import Drawing
from app.authoring.models import ValidationRow
from app.authoring.validations import Validations
from app.clock import now
from app.database import Database
from app.errors import PackageNotStored
from app.lease import FREE, is_free, lock, take, while_leased, write
from app.queue.protocol import Grader, PackageSource
from app.queue.threads import GradingThreads
from app.queue.walls import Walls
from app.web.markdown import render_markdown
from grader.context import Context
from grader.errors import Cancelled, GraderFault, WallMissing
from grader.package.package import AnswerManifest, Package
from grader.package.proof import Expectation, ValidationStep, expectations, leaks, weigh

log = logging.getLogger(__name__)
_LOOK_S = 2.0
_TRY_AGAIN_S = 1.0
CASES, QUESTIONS = "cases.py", "questions.py"
Step = Callable[[Grader, Context], ValidationStep]


def steps_of(package: Package) -> list[Step]:
    """All steps of a validation, the cheapest first. Each is called in a thread."""
    return [
        lambda grader, context: is_rendered(package),
        lambda grader, context: _keeps_its_secrets(package),
        lambda grader, context: has_cases(package, grader, context),
        *([partial(_answers_itself, package)] if isinstance(package.manifest, AnswerManifest) else []),
        *(partial(_is_judged, package, each) for each in expectations(package)),
    ]


def is_rendered(package: Package) -> ValidationStep:
    for name, text in (("statement.md", package.statement), ("editorial.md", package.editorial)):
        try:
            render_markdown(text)
        except Exception as error:  # whatever it is, the page would fail with it too
            return ValidationStep(name, False, f"Showing it as a page failed with {type(error).__name__}.")
    return ValidationStep("statement.md", True, "It can be shown as a page, and so can editorial.md.")


def _keeps_its_secrets(package: Package) -> ValidationStep:
    if secrets := leaks(package):
        return ValidationStep("starter.py", False, f"Public files reveal secrets: {'; '.join(secrets)}.")
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


def _is_judged(package: Package, expected: Expectation, grader: Grader, context: Context) -> ValidationStep:
    return weigh(expected, grader.judge(package, expected.source, context))


@dataclass(frozen=True, slots=True)
class _Leased:
    """A row that this process has leased."""

    id: str
    version: str
    fence_token: str
    tries: int


class Validator:
    """`run` validates what was requested until it is cancelled. It then returns a running validation to the queue.

    Args:
      max_deaths: a validation is given up after this many processes died during it.
    """

    def __init__(
        self,
        database: Database,
        validations: Validations,
        grader: Grader,
        packages: PackageSource,
        walls: Walls,
        *,
        lease_s: float,
        max_deaths: int,
    ) -> None:
        self._database = database
        self._validations = validations
        self._grader = grader
        self._packages = packages
        self._walls = walls
        self._life = timedelta(seconds=lease_s)
        self._max_deaths = max_deaths
        self._threads = GradingThreads(1)
        self._drawing = Drawing(database, grader, packages, self._threads.run)

    async def run(self) -> None:
        while True:
            self._validations.news.clear()
            try:
                if self._walls.are_up:
                    await self._draw()
                leased = await self._take() if self._walls.are_up and await self._are_due() else None
                if leased is not None:
                    await self._validate(leased)
                    continue
            except Exception:  # a database that is down for a while must not end this; the row's lease expires
                log.exception("a validation was interrupted; trying again in a second")
                await asyncio.sleep(_TRY_AGAIN_S)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._validations.news.wait(), _LOOK_S)

    async def _draw(self) -> None:
        stop = threading.Event()
        try:
            await self._drawing.draw(Context(stop=stop))
        except WallMissing as missing:
            self._walls.record(missing)
        finally:
            stop.set()

    async def _are_due(self) -> bool:
        # Read first, so that an idle validator never takes the write lock.
        async with self._database.reading() as session:
            return await session.scalar(select(ValidationRow.id).where(_due()).limit(1)) is not None

    async def _take(self) -> _Leased | None:
        query = select(ValidationRow).where(_due()).order_by(ValidationRow.created_at, ValidationRow.id).limit(1)
        async with self._database.writing() as session:
            rows = await lock(session, query)
            if not rows:
                return None
            row = rows[0]
            row.status, row.steps, row.tries = "running", [], row.tries + 1
            return _Leased(row.id, row.version, take(row, self._life), row.tries)

    async def _validate(self, leased: _Leased) -> None:
        stop = threading.Event()
        again = {"status": "queued", **FREE, "tries": leased.tries - 1}
        try:
            await self._run_steps(leased, stop)
        except WallMissing as missing:
            self._walls.record(missing)
            await self._write(leased, **again)
        except asyncio.CancelledError:
            await self._write(leased, **again)
            raise
        finally:
            stop.set()

    async def _run_steps(self, leased: _Leased, stop: threading.Event) -> None:
        steps: list[ValidationStep] = []
        if leased.tries > self._max_deaths:
            steps.append(ValidationStep("reference.py", False, f"The grader died {leased.tries - 1} times."))
        else:
            try:
                package = await self._packages.get(leased.version)
            except PackageNotStored as error:
                steps.append(ValidationStep("problem.toml", False, f"It cannot be read: {error}."))
                package = None
            for step in steps_of(package) if package else ():
                call = partial(_call, step, self._grader, Context(stop=stop))
                done = await while_leased(self._threads.run(call), lambda: self._write(leased), self._life)
                if done is None:
                    return
                steps.append(done)
                if done.file in (CASES, QUESTIONS) and not done.passed:
                    break
                if not await self._write(leased, steps=[asdict(each) for each in steps]):
                    return
        ended = {"status": "finished", **FREE, "finished_at": now()}
        await self._write(leased, steps=[asdict(each) for each in steps], **ended)

    async def _write(self, leased: _Leased, **values: Any) -> bool:
        """Store the values and extend the lease. `False` if it was lost."""
        async with self._database.writing() as session:
            longer = {"lease_until": now() + self._life}
            return await write(session, ValidationRow, leased.id, leased.fence_token, **(longer | values))


def _due() -> ColumnElement[bool]:
    return and_(ValidationRow.status.in_(("queued", "running")), is_free(ValidationRow))


def _call(step: Step, grader: Grader, context: Context) -> ValidationStep:
    try:
        return step(grader, context)
    except (Cancelled, WallMissing):
        raise
    except Exception as error:  # fail closed: an unexpected error proves nothing
        log.exception("a step of a validation failed")
        return ValidationStep("reference.py", False, f"The grader failed: {type(error).__name__}. Validate again.")
