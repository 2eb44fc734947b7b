"""What the judge has accepted of one user in one track: the facts of a completion."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict
from sqlalchemy import select

from app.accounts.caller import User
from app.core.database import Database
from app.core.errors import PackageNotStored
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.grading.queue.withheld_verdicts import shown_only
from app.problems.package_store import PackageStore
from app.problems.tracks import Section
from grader.package.package import Package, ProgramManifest


class _Fact(BaseModel):
    model_config = ConfigDict(frozen=True)


class VerifiedProblem(_Fact):
    """A solved problem: its best accepted attempt, and what it was judged with.

    `meshes` are those that the program was compiled for, as sizes by axis; empty in the other modes. `efficiency` is
    the best of all accepted attempts.
    """

    slug: str
    title: str
    outcome: str | None
    version: str
    meshes: tuple[dict[str, int], ...]
    score: int
    efficiency: float | None
    solved_at: datetime

    @property
    def devices(self) -> tuple[int, ...]:
        """The sizes of its meshes, the largest first."""
        return _sizes(self.meshes)


class Verified(_Fact):
    """What one user solved in one track. `left` are the titles of the problems that are not solved, by slug."""

    track: str
    title: str
    teaches: str
    problems: tuple[VerifiedProblem, ...]
    left: dict[str, str]

    @property
    def is_complete(self) -> bool:
        return bool(self.problems) and not self.left

    @property
    def devices(self) -> tuple[int, ...]:
        """The sizes of all meshes for which programs were compiled, the largest first."""
        return _sizes(mesh for each in self.problems for mesh in each.meshes)

    @property
    def programs(self) -> int:
        """How many of the problems were judged by a compiled program."""
        return sum(bool(each.meshes) for each in self.problems)

    @property
    def best(self) -> VerifiedProblem | None:
        """The problem with the best efficiency."""
        ranked = [each for each in self.problems if each.efficiency is not None]
        return max(ranked, key=lambda each: each.efficiency or 0.0, default=None)

    @property
    def completed_at(self) -> datetime:
        """When the last of its problems was solved."""
        return max(each.solved_at for each in self.problems)

    @property
    def first_words(self) -> str:
        """Such as "6 problems solved."."""
        return f"{len(self.problems)} {_plural('problem', len(self.problems))} solved."

    @property
    def words(self) -> str:
        """Such as "6 problems solved. 5 of them are programs that were compiled for 8 and 4 devices."."""
        count = len(self.problems)
        parts = [self.first_words]
        if self.programs:
            which = "All are programs that were" if self.programs == count else _some(self.programs)
            parts.append(f"{which} compiled for {_listed(self.devices)}.")
        if self.best:
            parts.append(f"The best efficiency is {self.best.efficiency:.0f}, where 100 is the reference.")
        return " ".join(parts)

    @classmethod
    def of(cls, section: Section, solved: Sequence[VerifiedProblem]) -> Self:
        done = {each.slug: each for each in solved}
        return cls(
            track=section.id,
            title=section.title,
            teaches=section.teaches,
            problems=tuple(done[each.slug] for each in section.packages if each.slug in done),
            left={each.slug: each.manifest.title for each in section.packages if each.slug not in done},
        )


async def verified_of(database: Database, store: PackageStore, user: User, section: Section) -> Verified:
    """What the user has solved of this track. An attempt that an open exam hides does not count yet."""
    row = AttemptRow
    query = (
        select(row.problem, row.version, row.score, row.efficiency, row.created_at)
        .where(
            row.user_id == user.id,
            row.problem.in_([each.slug for each in section.packages]),
            row.verdict_status == "accepted",
            IS_SCORED,
        )
        .order_by(row.score.desc(), row.created_at)
    )
    async with database.reading() as session:
        found = (await session.execute(query.where(*await shown_only(session, user_id=user.id)))).all()
    solved = []
    for package in section.packages:
        mine = [each for each in found if each.problem == package.slug]
        if mine:
            judged = await _judged_with(store, mine[0].version, package)
            efficiencies = [each.efficiency for each in mine if each.efficiency is not None]
            solved.append(
                VerifiedProblem(
                    slug=package.slug,
                    title=judged.manifest.title,
                    outcome=judged.manifest.outcome,
                    version=mine[0].version,
                    meshes=_meshes(judged),
                    score=mine[0].score,
                    efficiency=max(efficiencies, default=None),
                    solved_at=min(each.created_at for each in mine),
                )
            )
    return Verified.of(section, solved)


async def _judged_with(store: PackageStore, version: str, served: Package) -> Package:
    if version == served.version:
        return served
    try:
        return await store.get(version)
    except PackageNotStored:  # A damaged version still was solved; what is served tells of it.
        return served


def _meshes(package: Package) -> tuple[dict[str, int], ...]:
    manifest = package.manifest
    return tuple(dict(each) for each in manifest.program.meshes) if isinstance(manifest, ProgramManifest) else ()


def _sizes(meshes: Iterable[dict[str, int]]) -> tuple[int, ...]:
    sizes = set()
    for mesh in meshes:
        size = 1
        for each in mesh.values():
            size *= each
        sizes.add(size)
    return tuple(sorted(sizes, reverse=True))


def _listed(devices: tuple[int, ...]) -> str:
    *rest, last = (str(each) for each in devices)
    return f"{', '.join(rest)} and {last} devices" if rest else f"{last} {_plural('device', devices[0])}"


def _some(count: int) -> str:
    return "1 of them is a program that was" if count == 1 else f"{count} of them are programs that were"


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"
