"""Runs explorations with the judge, and starts none while a submission waits.

Each process that grades runs one at a time, and beside it one for TPUs, which can take minutes.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from sqlalchemy import exists

from app.database import Database
from app.errors import PackageNotStored
from app.explorer.models import ExplorationRow
from app.queue.jobs import Job, Jobs
from app.queue.models import AttemptRow
from app.queue.protocol import Grader, PackageSource
from app.queue.threads import GradingThreads
from app.queue.walls import Walls
from grader.chips import ChipName
from grader.errors import Cancelled, SubmissionFault, WallMissing
from grader.explore import Explored, ExploredFault, explored, fault_of
from grader.function import Function
from grader.program.measured import Measured

log = logging.getLogger(__name__)
_FAILED = "The grader failed. Nothing is wrong with your source. Explore it again."


class Explorer:
    """`run` explores what was requested until it is cancelled. It then returns a running one to the queue.

    Args:
      news: set when this process receives a request for one.
      max_deaths: an exploration is given up after this many processes died during it.
    """

    def __init__(
        self,
        database: Database,
        news: asyncio.Event,
        grader: Grader,
        packages: PackageSource,
        walls: Walls,
        *,
        lease_s: float,
        max_deaths: int,
    ) -> None:
        self._grader = grader
        self._packages = packages
        self._max_deaths = max_deaths
        no_submission_waits = ~exists().where(AttemptRow.status == "queued")
        for_tpus = ExplorationRow.chip.is_not(None)
        self._lanes = [
            Jobs(
                ExplorationRow,
                database,
                GradingThreads(1),
                news,
                walls,
                lease_s=lease_s,
                only_if=(no_submission_waits, lane),
                last=ExplorationRow.guest.is_not(None),
            )
            for lane in (~for_tpus, for_tpus)
        ]

    async def run(self) -> None:
        async with asyncio.TaskGroup() as lanes:
            for each in self._lanes:
                lanes.create_task(each.run(self._explore))

    async def _explore(self, job: Job[ExplorationRow]) -> None:
        result = await self._result_of(job)
        if result is not None:
            await job.finish(result=result.model_dump(mode="json"))

    async def _result_of(self, job: Job[ExplorationRow]) -> Explored | None:
        """None if the lease was lost in the meantime."""
        if job.deaths >= self._max_deaths:
            return _failed(f"The grader died {job.deaths} times while it compiled this source.")
        grader, row = self._grader, job.row
        phases = [""]
        context = replace(job.context, progress=phases.append)
        if row.function is not None:
            function = Function.model_validate(row.function)
            return await job.call(
                lambda: _explored(
                    row, lambda source: grader.inspect_function(function, source, context, chip=_chip(row))
                ),
                lambda: {"phase": phases[-1]},
            )
        assert row.version is not None
        try:
            package = await self._packages.get(row.version)
        except PackageNotStored as error:
            return _failed(f"This version of the problem cannot be read: {error}.")
        return await job.call(
            lambda: _explored(row, lambda source: grader.inspect(package, source, context, chip=_chip(row))),
            lambda: {"phase": phases[-1]},
        )


def _explored(row: ExplorationRow, inspect: Callable[[str], tuple[Measured, ...]]) -> Explored:
    programs: list[tuple[Measured, ...]] = []
    try:
        programs.append(inspect(row.source))
        if row.against is not None:
            programs.append(inspect(row.against))
        return explored(*programs)
    except SubmissionFault as fault:
        return fault_of(fault, "against" if programs else "source")
    except (Cancelled, WallMissing):
        raise
    except Exception:  # fail closed: whatever it is, there is no result, and operators read why
        log.exception("an exploration failed")
        return _failed(_FAILED)


def _chip(row: ExplorationRow) -> ChipName | None:
    return cast(ChipName | None, row.chip)


def _failed(message: str) -> Explored:
    return Explored(fault=ExploredFault(of="source", reason=None, message=message, line=None))
