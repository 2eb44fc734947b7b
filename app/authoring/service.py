"""What instructors do with problems: upload versions of a package, validate them, and publish one."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select

from app.accounts.caller import User
from app.authoring.package_zip import files_of, zip_of
from app.authoring.upload_review import faults_of
from app.authoring.validations import Validation, Validations
from app.authoring.validator import steps_of
from app.authoring.version_history import History
from app.core.database import Database
from app.core.errors import PackageOfAnotherProblem, PackageRefused, VersionNotValidated
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.grading.queue.walls import Walls
from app.problems.catalogue_refresh import CatalogueRefresh
from app.problems.package_store import PackageStore
from app.problems.rendered_texts import RenderedTexts, texts_of, too_complex
from grader.package.ceiling import Ceiling
from grader.review.names import shared_uuids, unknown_prerequisites
from grader.review.reader import package_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Upload:
    """A stored version. `is_new` is true if this upload stored it."""

    slug: str
    version: str
    is_published: bool
    is_new: bool


@dataclass(frozen=True, slots=True)
class Publication:
    """`validated` is whether the version's latest validation passed; None if none has finished. `forced`: it had not.

    `attempts` counts the scored attempts of other versions, which a rejudge would grade again.
    """

    slug: str
    version: str
    validated: bool | None
    forced: bool
    attempts: int


class Authoring:
    """Safe to share between requests."""

    def __init__(
        self,
        database: Database,
        store: PackageStore,
        texts: RenderedTexts,
        serving: CatalogueRefresh,
        validations: Validations,
        walls: Walls,
        ceiling: Ceiling | None = None,
    ) -> None:
        self._database = database
        self._store = store
        self._texts = texts
        self._serving = serving
        self._walls = walls
        self.ceiling = ceiling
        self.validations = validations
        self.history = History(database)

    async def upload(self, user: User, slug: str, data: bytes) -> Upload:
        """Read a zipped package and store it as a version of the problem, without publishing it.

        Raises:
          BodyNotZip, PackageRefused. The latter also if a prerequisite is not published.
          PackageOfAnotherProblem: its manifest has another slug.
        """
        return await self.add(user, slug, await asyncio.to_thread(files_of, data))

    async def add(
        self, user: User, slug: str, files: dict[str, str], *, beside: Mapping[str, UUID] | None = None
    ) -> Upload:
        """Store the text of a package's files, by path, as a version. Raises what `upload` raises, except `BodyNotZip`.

        Args:
          beside: the uuids of other packages that are stored together with it, by slug. It may name them.
        """
        if faults := await faults_of(files, self.ceiling):
            raise PackageRefused(faults)
        # Its names and figures were validated above.
        package = await asyncio.to_thread(package_of, None, files, is_stored=True)
        if package.slug != slug:
            raise PackageOfAnotherProblem(
                f"problem.toml has slug = '{package.slug}', but the address has {slug[:64]!r}. "
                f"Send the package to /problems/{package.slug}, or change its slug."
            )
        published = {**self._serving.uuids(), **(beside or {})}
        faults = unknown_prerequisites(package.manifest, published) + shared_uuids(package.manifest, published)
        faults += [
            too_complex(name, exceeded)
            for name, texts in texts_of(package).items()
            if (exceeded := await self._texts.fault(texts)) is not None
        ]
        if faults:
            raise PackageRefused(faults)
        is_new = await self._store.add(package)
        if is_new:
            log.info("user %s uploaded version %s of %s", user.id, package.version, package.slug)
        published_version = (await self._store.published()).get(slug)
        return Upload(slug, package.version, published_version == package.version, is_new)

    async def download(self, slug: str, version: str) -> bytes:
        """A stored version as a zip. Raises `VersionNotFound`."""
        package = await self._store.version_of(slug, version)
        return await asyncio.to_thread(zip_of, package.files)

    async def validate(self, slug: str, version: str) -> Validation:
        """Queue a validation of a version with the judge.

        Raises:
          VersionNotFound.
          GradingRefused: a wall is missing, so it would never run.
        """
        package = await self._store.version_of(slug, version)
        self._walls.require()
        return await self.validations.request(version, len(steps_of(package)))

    async def publish(self, user: User, slug: str, version: str, *, force: bool = False) -> Publication:
        """Publish this version. Earlier attempts keep their version and their score.

        Args:
          force: publish it even if it has not passed validation. The record of the publication says so.
        Raises:
          VersionNotFound.
          PackageRefused: another problem with its uuid was published after it was uploaded.
          VersionNotValidated: its latest validation has not passed, and it is not forced.
        """
        package = await self._store.version_of(slug, version)
        if faults := shared_uuids(package.manifest, self._serving.uuids()):
            raise PackageRefused(faults)
        validation = await self.validations.latest(version)
        validated = validation.passed if validation else None
        if not validated and not force:
            raise VersionNotValidated(_why_not(slug, validation))
        forced = not validated
        await self._store.publish(slug, version, user_id=user.id, validated=validated, forced=forced)
        await self._serving.refresh()
        log.info("user %s published version %s of %s%s", user.id, version, slug, " by force" if forced else "")
        return Publication(slug, version, validated, forced, await self.judged_by_others(slug, version))

    async def judged_by_others(self, slug: str, version: str) -> int:
        """How many scored attempts at the problem were graded by another version."""
        query = (
            select(func.count())
            .select_from(AttemptRow)
            .where(AttemptRow.problem == slug, AttemptRow.version != version, IS_SCORED)
        )
        async with self._database.reading() as session:
            return await session.scalar(query) or 0


def _why_not(slug: str, validation: Validation | None) -> str:
    if validation is None:
        why = f"It was never validated. Validate it: POST /api/v1/problems/{slug}/validations."
    elif validation.passed is None:
        why = f"Its validation {validation.id} is still running. Wait until it has passed."
    else:
        why = f"Its validation {validation.id} failed. Fix the package and upload it again."
    anyway = 'To publish it anyway, send "force": true, which stays on record.'
    return f"Nothing was published. {why} {anyway}"
