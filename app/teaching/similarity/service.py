"""The similarity report of a problem: what students sent, in groups and in pairs.

It is only for instructors, and the audit log records each reading. It says how much two sources have in common, and
never why: a person has to read them.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.audit.log import record
from app.accounts.caller import User
from app.core.database import Database
from app.core.errors import AttemptNotFound, NothingToCompare
from app.grading.queue.withheld_verdicts import ALL_EXAMS, shown_only
from app.problems.catalogue import Catalogue
from app.teaching.courses.assistant_access import assisted_exams
from app.teaching.courses.roster_lines import RosterLines
from app.teaching.courses.staff import manages
from app.teaching.similarity.compare import (
    MOST_PAIRS,
    Pair,
    common_weight,
    compare,
    groups_of,
    rarity_of,
    share_of,
    without_repeats,
)
from app.teaching.similarity.fingerprints import common_lines, fingerprints
from app.teaching.similarity.rarity import PublicCode
from app.teaching.similarity.report_filter import EVERYTHING, Narrowing
from app.teaching.similarity.submissions import Shown, Submission, find_submission, find_submissions
from grader.package.package import Package
from grader.package.variants import every_variant

_CODE_BLOCK = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """`weight` is that of what they have in common: a part that nobody else has counts 1."""

    one: Submission
    other: Submission
    share: float
    weight: float

    @property
    def apart(self) -> timedelta:
        return abs(self.one.sent_at - self.other.sent_at)

    @property
    def later(self) -> Submission:
        return max(self.one, self.other, key=lambda each: each.sent_at)


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
        self._roster = RosterLines(database)
        self._turn = asyncio.Lock()

    async def report(
        self, reader: User, slug: str, course_id: str | None = None, narrowing: Narrowing = EVERYTHING
    ) -> SimilarityReport:
        """All students, or those of a course. Raises `ProblemNotFound` and `NothingToCompare`.

        Of pairs with the same share in percent, one whose later submission came without drafts and earlier tries is
        first.
        """
        package = self._package(slug)
        async with self._database.reading() as session:
            shown = await _shown_to(session, reader, package.slug)
            found, left_out = await find_submissions(session, package.slug, course_id, narrowing.attempts, shown)
        sent = {each.attempt_id: each for each in await self._identified(found, course_id)}
        async with self._turn:
            groups, pairs = await asyncio.to_thread(_alike, package, sent)
        names = {key: [each.words] for key, each in sent.items()}
        names |= {each[0]: [sent[key].words for key in each] for each in groups}
        asked_for = [
            SimilarPair(sent[each.one], sent[each.other], each.share, each.weight)
            for each in pairs
            if narrowing.has_share(each.share) and narrowing.has_any_of(names[each.one] + names[each.other])
        ]
        asked_for.sort(key=lambda each: (-round(each.share * 100), not each.later.came_whole))
        people = len({each.user_id for each in found})
        async with self._database.writing() as session:
            record(session, reader, "similarity-read", None, "", f"{slug}, {people} people", course_id)
        return SimilarityReport(
            people,
            left_out,
            tuple(tuple(sent[key] for key in each) for each in groups if narrowing.has_any_of(names[each[0]])),
            tuple(asked_for[:MOST_PAIRS]),
            len(asked_for),
        )

    async def pair(
        self,
        reader: User,
        slug: str,
        one_id: str,
        other_id: str,
        course_id: str | None = None,
        narrowing: Narrowing = EVERYTHING,
    ) -> ComparedPair:
        """Two attempts of different students side by side, weighed as `report` weighs them.

        Raises as `report`, and `AttemptNotFound`.
        """
        package = self._package(slug)
        async with self._database.reading() as session:
            shown = await _shown_to(session, reader, package.slug)
            one, other = [
                await _submission(session, package.slug, each, course_id, shown) for each in (one_id, other_id)
            ]
            found, _ = await find_submissions(session, package.slug, course_id, narrowing.attempts, shown)
        one, other = await self._identified([one, other], course_id)
        sent = {each.attempt_id: each for each in (*found, one, other)}
        async with self._turn:
            compared = await asyncio.to_thread(_side_by_side, package, sent, one, other)
        async with self._database.writing() as session:
            for each, partner in ((one, other), (other, one)):
                record(
                    session, reader, "similarity-compared", each.user_id, "", f"{slug}, with {partner.name}", course_id
                )
        return compared

    async def _identified(self, found: Sequence[Submission], course_id: str | None) -> list[Submission]:
        """With what the roster says of each student."""
        people = {each.user_id for each in found}
        roster = self._roster
        known = await (roster.of_course(course_id, people) if course_id else roster.of_people(people))
        return [replace(each, identity=known.get(each.user_id)) for each in found]

    def _package(self, slug: str) -> Package:
        package = self._catalogue.get(slug)
        if package.manifest.mode == "answer":
            raise NothingToCompare(
                "This problem asks for answers, so there is no code to compare. Students get different numbers, and "
                "all correct answers to one question are equal."
            )
        return package


def public_code(package: Package) -> PublicCode:
    """Given are the starter, the helpers, and the code in the problem's texts. Styles are all solutions that ship with
    it. Students of all variants are compared, so it is that of all.
    """
    handout: list[str] = []
    styles = [package.reference]
    for variant in every_variant(package):
        handout += [variant.starter, *variant.helpers.values()]
        handout += [block for text in (variant.statement, *variant.hints) for block in _CODE_BLOCK.findall(text)]
        styles += [each.source for each in variant.accepted]
    return PublicCode.of(handout, styles)


async def _shown_to(session: AsyncSession, reader: User, slug: str) -> Shown:
    """What leaves out attempts whose verdict an exam withholds from an assistant."""
    seen = ALL_EXAMS if manages(reader) else await assisted_exams(session, reader)
    return await shown_only(session, problem=slug, seen=seen)


async def _submission(
    session: AsyncSession, slug: str, attempt_id: str, course_id: str | None, shown: Shown
) -> Submission:
    found = await find_submission(session, slug, attempt_id, course_id, shown)
    if found is None:
        who = "No student of this course" if course_id else "No student"
        raise AttemptNotFound(f"{who} has an attempt at {slug} with the id {attempt_id[:64]!r}.")
    return found


def _alike(package: Package, sent: Mapping[str, Submission]) -> tuple[list[tuple[str, ...]], list[Pair]]:
    """Groups and pairs, by the ids of attempts."""
    public = public_code(package)
    prints = {key: fingerprints(each.source) for key, each in sent.items()}
    authors = {key: each.user_id for key, each in sent.items()}
    groups = groups_of(prints, public, authors)
    rest = without_repeats(groups, list(prints))
    pairs = compare({key: prints[key] for key in rest}, public, authors=authors)
    together = [{authors[key] for key in each} for each in groups]
    return groups, [
        each for each in pairs if not any({authors[each.one], authors[each.other]} <= people for people in together)
    ]


def _side_by_side(package: Package, sent: Mapping[str, Submission], one: Submission, other: Submission) -> ComparedPair:
    public = public_code(package)
    prints = {key: fingerprints(each.source) for key, each in sent.items()}
    authors = {key: each.user_id for key, each in sent.items()}
    first, second = prints[one.attempt_id], prints[other.attempt_id]
    others = without_repeats(groups_of(prints, public, authors), list(prints))
    class_keys = {*others, one.attempt_id, other.attempt_id}
    rarity = rarity_of({key: prints[key] for key in class_keys}, public, authors)
    weights = rarity.weights(first), rarity.weights(second)
    weight = common_weight(*weights)
    share = share_of(weight, *(sum(each.values()) for each in weights))
    ignored = rarity.commonplace(first)
    return ComparedPair(
        SimilarPair(one, other, share, weight),
        frozenset(common_lines(first, second, ignored)),
        frozenset(common_lines(second, first, ignored)),
    )
