"""What instructors do to problems: hand in versions of a package, have them checked, and publish one."""

import asyncio
import logging
from dataclasses import dataclass

from sqlalchemy import func, select

from app.accounts.caller import User
from app.authoring.history import History
from app.authoring.proofs import Proof, Proofs
from app.authoring.prover import steps_of
from app.authoring.zipped import files_of, refuse
from app.database import Database
from app.errors import PackageOfAnotherProblem, VersionNotChecked
from app.problems.serving import Serving
from app.problems.store import PackageStore
from app.queue.models import IS_SCORED, AttemptRow
from app.queue.walls import Walls
from grader.errors import PackageInvalid
from grader.package.ceiling import Ceiling
from grader.package.names import shared_uuids, unknown_prerequisites
from grader.package.package import Package
from grader.package.reader import package_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Upload:
    """A version in the store. `is_new`: it was not there before."""

    slug: str
    version: str
    is_published: bool
    is_new: bool


@dataclass(frozen=True, slots=True)
class Publication:
    """`checked` says how the latest check of this version ended; None where none has. `forced`: it had not passed.

    `attempts` counts the scored attempts that were judged by another version: those that a rejudge would be for.
    """

    slug: str
    version: str
    checked: bool | None
    forced: bool
    attempts: int


class Authoring:
    """Safe to share between requests."""

    def __init__(
        self,
        database: Database,
        store: PackageStore,
        serving: Serving,
        proofs: Proofs,
        walls: Walls,
        ceiling: Ceiling | None = None,
    ) -> None:
        self._database = database
        self._store = store
        self._serving = serving
        self._walls = walls
        self._ceiling = ceiling
        self.proofs = proofs
        self.history = History(database)

    async def upload(self, user: User, slug: str, data: bytes) -> Upload:
        """Read a zipped package and keep it as a version of the problem; nobody is served another one by that.

        Raises:
          BodyNotZip, PackageRefused. The latter also for a prerequisite that is not served.
          PackageOfAnotherProblem: its manifest has another slug.
        """
        # In a thread: parsing megabytes of Python and TOML would hold up every other request.
        package = await asyncio.to_thread(_unpack, data, self._ceiling)
        if package.slug != slug:
            raise PackageOfAnotherProblem(
                f"problem.toml says slug = '{package.slug}', the address says {slug[:64]!r}. "
                f"Send it to /problems/{package.slug}, or change the slug."
            )
        served = self._serving.uuids()
        faults = unknown_prerequisites(package.manifest, served) + shared_uuids(package.manifest, served)
        if faults:
            raise refuse(faults)
        is_new = await self._store.add(package)
        if is_new:
            log.info("user %s uploaded version %s of %s", user.id, package.version, package.slug)
        published = (await self._store.published()).get(slug)
        return Upload(slug, package.version, published == package.version, is_new)

    async def check(self, slug: str, version: str) -> Proof:
        """Have a version checked with the judge.

        Raises:
          VersionNotFound.
          GradingRefused: a wall is missing, so it would never be.
        """
        package = await self._store.version_of(slug, version)
        self._walls.require()
        return await self.proofs.ask(version, len(steps_of(package)))

    async def publish(self, user: User, slug: str, version: str, *, force: bool = False) -> Publication:
        """Serve this version from now on; what was handed in before keeps its version and its score.

        Args:
          force: also where no check of it has passed. The row that tells of the publication says so.
        Raises:
          VersionNotFound.
          PackageRefused: another problem with its uuid was published since it was uploaded.
          VersionNotChecked: no check of it has passed, and it is not forced.
        """
        package = await self._store.version_of(slug, version)
        if faults := shared_uuids(package.manifest, self._serving.uuids()):
            raise refuse(faults)
        proof = await self.proofs.latest(version)
        checked = proof.passed if proof else None
        if not checked and not force:
            raise VersionNotChecked(_why_not(slug, proof))
        forced = not checked
        await self._store.publish(slug, version, user_id=user.id, checked=checked, forced=forced)
        await self._serving.refresh()
        log.info("user %s published version %s of %s%s", user.id, version, slug, ", unchecked" if forced else "")
        return Publication(slug, version, checked, forced, await self.judged_by_others(slug, version))

    async def judged_by_others(self, slug: str, version: str) -> int:
        """How many scored attempts at the problem were judged by another version than this."""
        query = (
            select(func.count())
            .select_from(AttemptRow)
            .where(AttemptRow.problem == slug, AttemptRow.version != version, IS_SCORED)
        )
        async with self._database.reading() as session:
            return await session.scalar(query) or 0


def _why_not(slug: str, proof: Proof | None) -> str:
    if proof is None:
        found = f"It was never checked. Ask for a check: POST /api/v1/problems/{slug}/check."
    elif proof.passed is None:
        found = f"Its check {proof.id} is still running. Wait until it has passed."
    else:
        found = f"Its check {proof.id} found faults. Fix the package and upload it again."
    anyway = 'To publish it anyway, send "force": true; the list of publications will say so.'
    return f"Nothing was published. {found} {anyway}"


def _unpack(data: bytes, ceiling: Ceiling | None) -> Package:
    try:
        return package_of(None, files_of(data), ceiling)
    except PackageInvalid as error:
        raise refuse(error.faults) from None
