"""The similarity report of a problem: the best submission of each student, in groups and in pairs.

It is only for instructors, and the audit log records each reading. It says how much two sources have in common, and
never why: a person has to read them.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import record
from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.database import Database
from app.core.errors import AttemptNotFound, NothingToCompare
from app.core.ids import is_id
from app.grading.queue.models import IS_SCORED, AttemptRow
from app.problems.catalogue import Catalogue
from app.teaching.courses.models import MemberRow
from app.teaching.similarity.compare import MOST_PAIRS, MOST_PEOPLE, Pair, compare, groups_of, ignored_of
from app.teaching.similarity.fingerprints import Fingerprints, common_lines, fingerprints
from app.teaching.similarity.report_filter import EVERYTHING, Narrowing
from grader.package.package import Package

_CODE_BLOCK = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Submission:
    """The best submission of a student, the latest of equal ones."""

    attempt_id: str
    user_id: str
    name: str
    score: int
    source: str


@dataclass(frozen=True, slots=True)
class SimilarPair:
    one: Submission
    other: Submission
    share: float


@dataclass(frozen=True, slots=True)
class SimilarityReport:
    """`left_out` is how many people are beyond the limit, and were not compared.

    A group has identical submissions. In `pairs`, its first member stands for all of it. There are `found` pairs, of
    which `pairs` are the first.
    """

    people: int
    left_out: int
    groups: tuple[tuple[Submission, ...], ...]
    pairs: tuple[SimilarPair, ...]
    found: int


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two sources, and the numbers of their similar lines."""

    pair: SimilarPair
    one_lines: frozenset[int]
    other_lines: frozenset[int]


class Similarity:
    """Safe to share between requests. The routes check who may call it. One report at a time uses a core."""

    def __init__(self, database: Database, catalogue: Catalogue) -> None:
        self._database = database
        self._catalogue = catalogue
        self._turn = asyncio.Lock()

    async def report(
        self, reader: User, slug: str, course_id: str | None = None, narrowing: Narrowing = EVERYTHING
    ) -> SimilarityReport:
        """All students, or those of a course, by share. Raises `ProblemNotFound` and `NothingToCompare`."""
        package = self._package(slug)
        people, left_out = await self._submissions(package.slug, course_id)
        async with self._turn:
            keys, pairs = await asyncio.to_thread(_alike, package, [each.source for each in people])
        same = {each[0]: [people[int(key)].name for key in each] for each in keys}
        names = {key: same.get(key) or [people[int(key)].name] for pair in pairs for key in (pair.one, pair.other)}
        groups = tuple(tuple(people[int(key)] for key in each) for each in keys if narrowing.has_any_of(same[each[0]]))
        asked_for = [
            each
            for each in pairs
            if narrowing.has_share(each.share) and narrowing.has_any_of(names[each.one] + names[each.other])
        ]
        shown = tuple(
            SimilarPair(people[int(each.one)], people[int(each.other)], each.share) for each in asked_for[:MOST_PAIRS]
        )
        async with self._database.writing() as session:
            record(session, reader, "similarity-read", None, "", f"{slug}, {len(people)} people")
        return SimilarityReport(len(people), left_out, groups, shown, len(asked_for))

    async def pair(self, reader: User, slug: str, one_id: str, other_id: str) -> ComparedPair:
        """Two attempts of different students side by side. Raises as `report`, and `AttemptNotFound`."""
        package = self._package(slug)
        async with self._database.reading() as session:
            one, other = [await _submission(session, package.slug, each) for each in (one_id, other_id)]
        async with self._turn:
            compared = await asyncio.to_thread(_lines, package, one.source, other.source)
        async with self._database.writing() as session:
            for each, partner in ((one, other), (other, one)):
                record(session, reader, "similarity-compared", each.user_id, "", f"{slug}, with {partner.name}")
        return ComparedPair(SimilarPair(one, other, compared[0]), *compared[1:])

    def _package(self, slug: str) -> Package:
        package = self._catalogue.get(slug)
        if package.manifest.mode == "answer":
            raise NothingToCompare(
                "This problem asks for answers, so there is no code to compare. Students get different numbers, and "
                "all correct answers to one question are equal."
            )
        return package

    async def _submissions(self, slug: str, course_id: str | None) -> tuple[list[Submission], int]:
        """By name, at most `MOST_PEOPLE`, and how many more there are."""
        row = AttemptRow
        place = func.row_number().over(
            partition_by=row.user_id, order_by=(row.score.desc(), row.created_at.desc(), row.id)
        )
        best = select(row.id, row.user_id, place.label("place")).where(row.problem == slug, IS_SCORED).subquery()
        query = (
            select(row.id, UserRow.id, UserRow.name, row.score, row.source)
            .join(best, best.c.id == row.id)
            .join(UserRow, UserRow.id == row.user_id)
            .where(best.c.place == 1, UserRow.role == "student")
            .order_by(UserRow.name)
        )
        if course_id is not None:
            members = select(MemberRow.user_id).where(MemberRow.course_id == course_id, MemberRow.role == "student")
            query = query.where(UserRow.id.in_(members))
        async with self._database.reading() as session:
            total = await session.scalar(select(func.count()).select_from(query.order_by(None).subquery())) or 0
            rows = (await session.execute(query.limit(MOST_PEOPLE))).all()
        return [_submission_of(*each) for each in rows], max(0, total - len(rows))


async def _submission(session: AsyncSession, slug: str, attempt_id: str) -> Submission:
    row = AttemptRow
    query = (
        select(row.id, UserRow.id, UserRow.name, row.score, row.source)
        .join(UserRow, UserRow.id == row.user_id)
        .where(row.id == attempt_id, row.problem == slug, IS_SCORED, UserRow.role == "student")
    )
    found = (await session.execute(query)).one_or_none() if is_id(attempt_id) else None
    if found is None:
        raise AttemptNotFound(f"No student has an attempt at {slug} with the id {attempt_id[:64]!r}.")
    return _submission_of(*found)


def _submission_of(attempt_id: str, user_id: str, name: str, score: int | None, source: str) -> Submission:
    return Submission(attempt_id, user_id, name, score or 0, source)


def _public(package: Package) -> list[str]:
    """What everyone gets with the problem: the starter, and the code in its texts."""
    texts = (package.statement, *package.hints)
    return [package.starter, *(block for text in texts for block in _CODE_BLOCK.findall(text))]


def _alike(package: Package, sources: Sequence[str]) -> tuple[list[tuple[str, ...]], list[Pair]]:
    """Groups and pairs, by the place of each source."""
    prints = {str(number): fingerprints(each) for number, each in enumerate(sources)}
    ignored = ignored_of(_public(package))
    groups = groups_of(prints, ignored)
    further = {key for each in groups for key in each[1:]}
    return groups, compare({key: each for key, each in prints.items() if key not in further}, ignored)


def _lines(package: Package, one: str, other: str) -> tuple[float, frozenset[int], frozenset[int]]:
    ignored = ignored_of(_public(package))
    first, second = fingerprints(one), fingerprints(other)
    return (
        _share(first, second, ignored),
        frozenset(common_lines(first, second, ignored)),
        frozenset(common_lines(second, first, ignored)),
    )


def _share(one: Fingerprints, other: Fingerprints, ignored: frozenset[int]) -> float:
    pairs = compare({"0": one, "1": other}, ignored, least=0.0)
    return pairs[0].share if pairs else 0.0
