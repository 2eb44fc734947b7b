"""Explains attempts that were stored without a misconception, once a version with new known mistakes is served.

What an attempt did is stored with it, so this is a look-up: nothing is run, and no score changes.
"""

import asyncio
from typing import Any

from sqlalchemy import select, update

from app.core.background_loop import Loop
from app.core.database import Database
from app.grading.queue.models import IS_UNEXPLAINED, AttemptRow
from app.problems.models import PackageRow, PublishedRow
from app.problems.package_store import PackageStore
from grader.mistakes.known_mistakes import explain_stored
from grader.package.package import Package
from grader.package.variants import every_variant
from grader.verdicts.fingerprint import Fingerprint

_AT_ONCE = 100
Stored = list[tuple[str, str | None, str, dict[str, Any]]]


class MisconceptionBackfill:
    """Any number of processes may have one: each would explain an attempt in the same way."""

    def __init__(self, database: Database, store: PackageStore) -> None:
        self.loop = Loop("explaining stored attempts", self.step, pause_s=5.0, idle_pause_s=60.0)
        self._database = database
        self._store = store

    async def step(self) -> bool:
        """Compare the attempts of one problem with the mistakes of its served version.

        Returns whether there was one.
        """
        row = PackageRow
        is_new = (row.version == PublishedRow.version) & row.known.is_not(None) & row.explained.is_(False)
        async with self._database.reading() as session:
            version = await session.scalar(select(row.version).join(PublishedRow, is_new).limit(1))
        if version is None:
            return False
        package = await self._store.get(version)
        last = ""
        while attempts := await self._after(last, package.slug):
            last = attempts[-1][0]
            found = await asyncio.to_thread(_explained, package, attempts)
            await self._write(found)
        async with self._database.writing() as session:
            await session.execute(update(row).where(row.version == version).values(explained=True))
        return True

    async def _after(self, last: str, slug: str) -> Stored:
        row = AttemptRow
        query = (
            select(row.id, row.variant, row.source, row.fingerprint)
            .where(row.problem == slug, row.kind == "attempt", IS_UNEXPLAINED, row.id > last)
            .order_by(row.id)
            .limit(_AT_ONCE)
        )
        async with self._database.reading() as session:
            return [(id, variant, source, stored) for id, variant, source, stored in await session.execute(query)]

    async def _write(self, found: dict[str, str]) -> None:
        async with self._database.writing() as session:
            for attempt_id, misconception in found.items():
                attempt = await session.get(AttemptRow, attempt_id, with_for_update=True)
                # It may have been deleted, or graded again.
                if attempt is None or attempt.fingerprint is None or attempt.verdict is None:
                    continue
                attempt.verdict = {**attempt.verdict, "misconception": misconception}
                attempt.faults = {**(attempt.faults or {}), "misconception": misconception}
                attempt.fingerprint = None


def _explained(package: Package, attempts: Stored) -> dict[str, str]:
    """The misconceptions that were found, by the attempt's id."""
    found = {}
    of_name = {each.variant_name: each for each in every_variant(package)}
    for attempt_id, variant, source, stored in attempts:
        if variant not in of_name:
            continue
        misconception = explain_stored(of_name[variant], source, Fingerprint.model_validate(stored))
        if misconception is not None:
            found[attempt_id] = misconception
    return found
