"""The courses of platforms that are linked to a course here: their rosters, and the state of their scores."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, update

from app.accounts.audit.log import LONGEST_DETAIL, Action, record
from app.accounts.caller import User, user_of
from app.accounts.identities import Identity, find
from app.accounts.models import UserRow
from app.accounts.roles import is_at_least
from app.accounts.service import Accounts
from app.core.clock import now
from app.core.database import Database
from app.core.ids import is_id
from app.core.outbox import due_now
from app.teaching.courses.roster_lines import is_member_in, learn_in
from app.teaching.courses.service import Course, MemberRole, add_member_in
from app.teaching.lti.errors import PlatformFailed, PlatformNotFound
from app.teaching.lti.messages import clean, identity_of, part_of
from app.teaching.lti.models import ContextRow, LinkRow, PlatformRow, ScoreRow
from app.teaching.lti.platform_requests import PlatformRequests
from app.teaching.lti.platforms import Platforms

_MOST_MEMBERS = 5000


@dataclass(frozen=True, slots=True)
class LinkedContext:
    """A course of a platform. `has_roster` says that the platform named an address for its members."""

    id: str
    platform: str
    title: str
    has_roster: bool
    roster_at: datetime | None


@dataclass(frozen=True, slots=True)
class ScoreState:
    """How far the scores for one link are: how many arrived, wait, and were given up; and the last fault of one."""

    id: str
    title: str
    arrived: int
    waiting: int
    failed: int
    answer: str | None


@dataclass(frozen=True, slots=True)
class RosterResult:
    """`joined` are new in the course, and `created` of them had no account."""

    members: int
    joined: int
    created: int


class LinkedCourses:
    """Safe to share between requests. The routes check who may call what."""

    def __init__(
        self, database: Database, accounts: Accounts, platforms: Platforms, requests: PlatformRequests
    ) -> None:
        self._database = database
        self._accounts = accounts
        self._platforms = platforms
        self._requests = requests

    async def contexts(self, course: Course | None) -> list[LinkedContext]:
        """Those that are linked to the course; with None, those that are linked to none. By title."""
        row = ContextRow
        query = (
            select(row, PlatformRow.name)
            .join(PlatformRow, PlatformRow.id == row.platform_id)
            .where(row.course_id == course.id if course else row.course_id.is_(None))
            .order_by(row.title, row.id)
            .limit(200)
        )
        async with self._database.reading() as session:
            return [
                LinkedContext(each.id, name, each.title, each.members_url is not None, each.roster_at)
                for each, name in await session.execute(query)
            ]

    async def connect(self, user: User, course: Course, context_id: str) -> None:
        """Link a course of a platform, which is linked to none, to this one. Raises `PlatformNotFound`."""
        await self._set_course(user, course, context_id, connected=True)

    async def disconnect(self, user: User, course: Course, context_id: str) -> None:
        """Members stay. Raises `PlatformNotFound`."""
        await self._set_course(user, course, context_id, connected=False)

    async def _set_course(self, user: User, course: Course, context_id: str, *, connected: bool) -> None:
        row = ContextRow
        async with self._database.writing() as session:
            title = await session.scalar(
                update(row)
                .where(row.id == (context_id if is_id(context_id) else ""))
                .where(row.course_id.is_(None) if connected else row.course_id == course.id)
                .values(course_id=course.id if connected else None)
                .returning(row.title)
            )
            if title is None:
                raise _no_context(context_id)
            action: Action = "lti-course-connected" if connected else "lti-course-disconnected"
            record(session, user, action, None, "", f"{course.name}: {title}"[:LONGEST_DETAIL], course.id)

    async def import_roster(self, user: User, course: Course, context_id: str) -> RosterResult:
        """Add the students and assistants that the platform lists. Nobody is removed, and no role changes.

        Raises:
          PlatformNotFound: no such course of a platform is linked to this one.
          PlatformFailed: it gives no roster, or did not respond correctly.
        """
        async with self._database.reading() as session:
            context = await session.get(ContextRow, context_id) if is_id(context_id) else None
            if context is None or context.course_id != course.id:
                raise _no_context(context_id)
            platform = await self._platforms.get_in(session, context.platform_id)
        if context.members_url is None:
            raise PlatformFailed("The learning platform did not offer its roster when the course was last opened.")
        members = await self._requests.members(platform, context.members_url)
        if len(members) > _MOST_MEMBERS:
            raise PlatformFailed(f"The roster has more than {_MOST_MEMBERS} people.")
        present, joined, created = 0, 0, 0
        began = now()
        async with self._database.writing() as session:
            for each in members:
                subject, part = each.get("user_id"), part_of(each.get("roles"))
                usable = isinstance(subject, str) and 1 <= len(subject) <= 255 and subject.isprintable()
                if not usable or each.get("status", "Active") != "Active" or part not in ("learner", "assistant"):
                    continue
                name = clean(each.get("name") or each.get("given_name"), 200)
                identity = Identity(platform.identity_issuer, str(subject), name)
                person = identity_of(each, each.get("lis_person_sourcedid"))
                if await find(session, identity) is None and await is_member_in(session, course.id, person):
                    # Their account is here already. A launch asks them whether to sign in to it from the platform.
                    present += 1
                    continue
                user_id = await self._accounts.account_of_in(session, identity, "student")
                account = await session.get_one(UserRow, user_id)
                present += 1
                created += account.created_at >= began
                if not is_at_least(account.role, "instructor"):  # type: ignore[arg-type]
                    role: MemberRole = "student" if part == "learner" else "assistant"
                    joined += await add_member_in(session, course.id, user_id, role)
                    await learn_in(session, course.id, user_of(account), role, person)
            await session.execute(update(ContextRow).where(ContextRow.id == context_id).values(roster_at=now()))
            record(session, user, "lti-roster", None, "", f"{course.name}: {joined} joined", course.id)
        return RosterResult(present, joined, created)

    async def scores(self, course: Course) -> list[ScoreState]:
        """For each link with a column in the platform's gradebook, by title."""
        row = ScoreRow
        is_over = row.next_try_at.is_(None)
        query = (
            select(
                LinkRow,
                func.count(row.id).filter(is_over, row.delivered_at.is_not(None)),
                func.count(row.id).filter(row.next_try_at.is_not(None)),
                func.count(row.id).filter(is_over, row.delivered_at.is_(None)),
                func.max(row.answer).filter(row.delivered_at.is_(None)),
            )
            .join(ContextRow, ContextRow.id == LinkRow.context_id)
            .outerjoin(row, row.link_id == LinkRow.id)
            .where(ContextRow.course_id == course.id, LinkRow.line_item.is_not(None))
            .group_by(LinkRow.id)
            .order_by(LinkRow.title, LinkRow.id)
        )
        async with self._database.reading() as session:
            return [
                ScoreState(link.id, link.title or link.problem or "", arrived, waiting, failed, answer)
                for link, arrived, waiting, failed, answer in await session.execute(query)
            ]

    async def send_again(self, course: Course) -> None:
        """Send every score of the course's links once more, also those that were given up."""
        links = (
            select(LinkRow.id)
            .join(ContextRow, ContextRow.id == LinkRow.context_id)
            .where(ContextRow.course_id == course.id, LinkRow.line_item.is_not(None))
        )
        async with self._database.writing() as session:
            await session.execute(update(ScoreRow).where(ScoreRow.link_id.in_(links)).values(due_now()))


def _no_context(context_id: str) -> PlatformNotFound:
    return PlatformNotFound(f"No course of a learning platform has the id {context_id[:64]!r} here.")
