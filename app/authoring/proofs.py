"""Checks of versions: wanted by an instructor, and read while they go on. app/authoring/prover.py does them.

In a table and not in memory: where workers grade, the process that is asked has no judge.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast

from sqlalchemy import Row, select, tuple_

from app.authoring.history import require_versions
from app.authoring.models import ProofRow
from app.clock import now
from app.database import Database
from app.errors import CheckNotFound
from app.ids import is_id, new_id
from app.problems.models import PackageRow
from grader.package.proof import Finding

ProofStatus = Literal["queued", "running", "finished"]


@dataclass(frozen=True, slots=True)
class Proof:
    """One check. `total` is how many findings there will be, at most: without its cases nothing else can be judged.

    `passed` is None until it has ended.
    """

    id: str
    slug: str
    version: str
    status: ProofStatus
    findings: tuple[Finding, ...]
    total: int
    created_at: datetime
    finished_at: datetime | None

    @property
    def passed(self) -> bool | None:
        if self.status != "finished":
            return None
        return len(self.findings) == self.total and all(each.passed for each in self.findings)

    @property
    def found(self) -> int:
        return len(self.findings)

    @property
    def faults(self) -> int:
        """How many findings did not pass."""
        return sum(not each.passed for each in self.findings)


_COLUMNS = (
    ProofRow.id,
    PackageRow.slug,
    ProofRow.version,
    ProofRow.status,
    ProofRow.findings,
    ProofRow.total,
    ProofRow.created_at,
    ProofRow.finished_at,
)
_PROOFS = select(*_COLUMNS).join(PackageRow, PackageRow.version == ProofRow.version)


class Proofs:
    """Safe to share between requests. `news` is set when one was asked for in this process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.news = asyncio.Event()

    async def ask(self, version: str, total: int) -> Proof:
        """Have a stored version checked. One that waits already, or is under way, is not begun again."""
        unfinished = _PROOFS.where(ProofRow.version == version, ProofRow.status != "finished")
        async with self._database.writing() as session:
            # Locked, so that of two who ask at once the second one finds the first one's.
            await session.execute(select(PackageRow.version).where(PackageRow.version == version).with_for_update())
            found = (await session.execute(unfinished)).first()
            if found is None:
                fields = {"status": "queued", "findings": [], "total": total, "tries": 0, "created_at": now()}
                session.add(ProofRow(id=new_id(), version=version, **fields))
                await session.flush()
                found = (await session.execute(unfinished)).one()
        self.news.set()
        return _proof(found)

    async def get(self, slug: str, proof_id: str) -> Proof:
        """Raises `CheckNotFound`, also for one of another problem."""
        found = None
        if is_id(proof_id):
            async with self._database.reading() as session:
                found = (await session.execute(_PROOFS.where(ProofRow.id == proof_id))).first()
        if found is None or found.slug != slug:
            raise CheckNotFound(f"The problem {slug[:64]!r} has no check with the id {proof_id[:64]!r}.")
        return _proof(found)

    async def latest(self, version: str) -> Proof | None:
        """The last check of a version: a finished one before one that is running."""
        unfinished = ProofRow.status != "finished"
        query = _PROOFS.where(ProofRow.version == version).order_by(unfinished, ProofRow.created_at.desc()).limit(1)
        async with self._database.reading() as session:
            found = (await session.execute(query)).first()
        return None if found is None else _proof(found)

    async def list(
        self, slug: str, version: str | None = None, limit: int = 20, before: str | None = None
    ) -> list[Proof]:
        """The checks of a problem, or of one version, newest first; `before` is the last one of the page before this.

        Raises:
          ProblemNotFound.
          CheckNotFound: `before` is no check of this problem.
        """
        row = ProofRow
        query = _PROOFS.where(PackageRow.slug == slug).order_by(row.created_at.desc(), row.id.desc()).limit(limit)
        if version is not None:
            query = query.where(row.version == version)
        if before is not None:
            last = await self.get(slug, before)
            query = query.where(tuple_(row.created_at, row.id) < tuple_(last.created_at, last.id))
        async with self._database.reading() as session:
            await require_versions(session, slug)
            return [_proof(found) for found in await session.execute(query)]


def _proof(row: Row[tuple[object, ...]]) -> Proof:
    found = row._mapping
    return Proof(
        id=found["id"],
        slug=found["slug"],
        version=found["version"],
        status=cast(ProofStatus, found["status"]),
        findings=tuple(Finding(**each) for each in found["findings"]),
        total=found["total"],
        created_at=found["created_at"],
        finished_at=found["finished_at"],
    )
