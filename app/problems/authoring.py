"""What instructors do to problems: hand in versions of a package, and have them checked."""

import asyncio
import logging
from dataclasses import dataclass

from app.accounts.caller import User
from app.errors import PackageNotStored, PackageOfAnotherProblem, VersionNotFound
from app.problems.proofs import Proof, Proofs
from app.problems.prover import steps_of
from app.problems.store import PackageStore
from app.problems.zipped import files_of, refuse
from app.queue.walls import Walls
from grader.errors import PackageInvalid
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


class Authoring:
    """Safe to share between requests."""

    def __init__(self, store: PackageStore, proofs: Proofs, walls: Walls) -> None:
        self._store = store
        self._walls = walls
        self.proofs = proofs

    async def upload(self, user: User, slug: str, data: bytes) -> Upload:
        """Read a zipped package and keep it as a version of the problem; nobody is served another one by that.

        Raises:
          BodyNotZip, PackageRefused.
          PackageOfAnotherProblem: its manifest has another slug.
        """
        # In a thread: parsing megabytes of Python and TOML would hold up every other request.
        package = await asyncio.to_thread(_unpack, data)
        if package.slug != slug:
            raise PackageOfAnotherProblem(
                f"problem.toml says slug = '{package.slug}', the address says {slug[:64]!r}. "
                f"Send it to /problems/{package.slug}, or change the slug."
            )
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
        package = await self._find(slug, version)
        self._walls.require()
        return await self.proofs.ask(version, len(steps_of(package)))

    async def _find(self, slug: str, version: str) -> Package:
        try:
            package = await self._store.get(version)
        except PackageNotStored as error:
            raise VersionNotFound(f"{str(error).capitalize()}. Upload it: PUT /problems/{{slug}}.") from None
        if package.slug != slug:
            raise VersionNotFound(f"The version {version} is one of the problem '{package.slug}'.")
        return package


def _unpack(data: bytes) -> Package:
    try:
        return package_of(None, files_of(data))
    except PackageInvalid as error:
        raise refuse(error.faults) from None
