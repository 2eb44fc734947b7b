"""Checks versions with the judge, in each process that grades: one at a time, in a thread of its own."""

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

from app.authoring.models import ProofRow
from app.authoring.proofs import Proofs
from app.clock import now
from app.database import Database
from app.errors import PackageNotStored
from app.lease import FREE, is_free, lock, take, write
from app.queue.protocol import Grader, PackageSource
from app.queue.threads import GradingThreads
from app.queue.walls import Walls
from app.web.markdown import render_markdown
from grader.context import Context
from grader.errors import Cancelled, GraderFault, WallMissing
from grader.package.package import Package
from grader.package.proof import Expectation, Finding, expectations, leaks, weigh

log = logging.getLogger(__name__)
_LOOK_S = 2.0
_STUMBLED_S = 1.0
_CASES = "cases.py"
Step = Callable[[Grader, Context], Finding]


def steps_of(package: Package) -> list[Step]:
    """All that is looked at, the cheapest first. Each is called in a thread."""
    return [
        lambda grader, context: _is_rendered(package),
        lambda grader, context: _keeps_its_secrets(package),
        lambda grader, context: _has_cases(package, grader, context),
        *(partial(_is_judged, package, each) for each in expectations(package)),
    ]


def _is_rendered(package: Package) -> Finding:
    for name, text in (("statement.md", package.statement), ("editorial.md", package.editorial)):
        try:
            render_markdown(text)
        except Exception as error:  # whatever it is, the page would end in it, too
            return Finding(name, False, f"It cannot be shown as a page: {type(error).__name__}.")
    return Finding("statement.md", True, "It is shown as a page, and so is editorial.md.")


def _keeps_its_secrets(package: Package) -> Finding:
    found = leaks(package)
    if found:
        return Finding("starter.py", False, f"What every student sees gives secrets away: {'; '.join(found)}.")
    return Finding("starter.py", True, "Neither it nor another public file holds the answer or the hidden inputs.")


def _has_cases(package: Package, grader: Grader, context: Context) -> Finding:
    try:
        grader.prepare(package, context)
    except WallMissing:
        raise
    except GraderFault as fault:
        return Finding(_CASES, False, f"Nothing can be judged by this version: {fault}")
    return Finding(_CASES, True, "The cases are made, and the reference answers each of them.")


def _is_judged(package: Package, expected: Expectation, grader: Grader, context: Context) -> Finding:
    return weigh(expected, grader.judge(package, expected.source, context))


@dataclass(frozen=True, slots=True)
class _Held:
    """A row of this process's, until its lease is over."""

    id: str
    version: str
    fence_token: str
    tries: int


class Prover:
    """`run` takes the checks that are asked for until it is cancelled; then one under way goes back to the queue.

    Args:
      max_deaths: after so many processes that did not outlive it, a check is given up.
    """

    def __init__(
        self,
        database: Database,
        proofs: Proofs,
        grader: Grader,
        packages: PackageSource,
        walls: Walls,
        *,
        lease_s: float,
        max_deaths: int,
    ) -> None:
        self._database = database
        self._proofs = proofs
        self._grader = grader
        self._packages = packages
        self._walls = walls
        self._life = timedelta(seconds=lease_s)
        self._max_deaths = max_deaths
        self._threads = GradingThreads(1)

    async def run(self) -> None:
        while True:
            self._proofs.news.clear()
            try:
                held = await self._take() if self._walls.stand and await self._are_due() else None
                if held is not None:
                    await self._prove(held)
                    continue
            except Exception:  # a database that is away for a while must not end all checks; the row's lease runs out
                log.exception("a check stumbled; looking again in a second")
                await asyncio.sleep(_STUMBLED_S)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._proofs.news.wait(), _LOOK_S)

    async def _are_due(self) -> bool:
        # Asked first, so that looking takes no turn from those who write.
        async with self._database.reading() as session:
            return await session.scalar(select(ProofRow.id).where(_due()).limit(1)) is not None

    async def _take(self) -> _Held | None:
        query = select(ProofRow).where(_due()).order_by(ProofRow.created_at, ProofRow.id).limit(1)
        async with self._database.writing() as session:
            rows = await lock(session, query)
            if not rows:
                return None
            row = rows[0]
            row.status, row.findings, row.tries = "running", [], row.tries + 1
            return _Held(row.id, row.version, take(row, self._life), row.tries)

    async def _prove(self, held: _Held) -> None:
        stop = threading.Event()
        again = {"status": "queued", **FREE, "tries": held.tries - 1}
        try:
            await self._take_steps(held, stop)
        except WallMissing as missing:
            self._walls.record(missing)
            await self._write(held, **again)
        except asyncio.CancelledError:
            await self._write(held, **again)
            raise
        finally:
            stop.set()

    async def _take_steps(self, held: _Held, stop: threading.Event) -> None:
        findings: list[Finding] = []
        if held.tries > self._max_deaths:
            findings.append(Finding("reference.py", False, f"{held.tries - 1} processes died while they checked this."))
        else:
            try:
                package = await self._packages.get(held.version)
            except PackageNotStored as error:
                findings.append(Finding("problem.toml", False, f"It cannot be read: {error}."))
                package = None
            for step in steps_of(package) if package else ():
                finding = await self._while_held(held, partial(_call, step, self._grader, Context(stop=stop)))
                if finding is None:
                    return
                findings.append(finding)
                if finding.file == _CASES and not finding.passed:
                    break
                if not await self._write(held, findings=[asdict(each) for each in findings]):
                    return
        ended = {"status": "finished", **FREE, "finished_at": now()}
        await self._write(held, findings=[asdict(each) for each in findings], **ended)

    async def _while_held(self, held: _Held, call: Callable[[], Finding]) -> Finding | None:
        """What `call` finds, in the thread; None if the lease was lost meanwhile."""
        task = asyncio.ensure_future(self._threads.run(call))
        try:
            while not (await asyncio.wait([task], timeout=self._life.total_seconds() / 3))[0]:
                if not await self._write(held):
                    return None
            return task.result()
        finally:
            task.cancel()

    async def _write(self, held: _Held, **values: Any) -> bool:
        """Store, and hold the row longer; `False` when somebody else holds it by now."""
        async with self._database.writing() as session:
            longer = {"lease_until": now() + self._life}
            return await write(session, ProofRow, held.id, held.fence_token, **(longer | values))


def _due() -> ColumnElement[bool]:
    return and_(ProofRow.status.in_(("queued", "running")), is_free(ProofRow))


def _call(step: Step, grader: Grader, context: Context) -> Finding:
    try:
        return step(grader, context)
    except (Cancelled, WallMissing):
        raise
    except Exception as error:  # fail closed: what nobody foresaw proves nothing
        log.exception("a check failed")
        return Finding("reference.py", False, f"The grader failed: {type(error).__name__}. Check again.")
