"""A launch from the first request of the platform to the page that it leads to.

The message of the platform leaves a ticket. The browser that finishes with it is signed in as the user whom the
platform named: at once if it began the launch, and after a confirmation if not, so that nobody is signed in to another
person's account by a link alone.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import Caller, User, user_of
from app.accounts.digest import digest, new_token
from app.accounts.identities import Identity, find, new_row
from app.accounts.models import UserRow
from app.accounts.roles import Role
from app.accounts.service import Accounts
from app.core.clock import now
from app.core.database import Database, insert_into
from app.core.errors import IdentityTaken
from app.core.ids import new_id
from app.core.outbox import due_now
from app.core.web.next_page import own_page
from app.problems.catalogue import Catalogue
from app.teaching.courses.models import AssignmentRow, CourseRow
from app.teaching.courses.roster_lines import learn_in
from app.teaching.courses.service import MemberRole, add_member_in
from app.teaching.courses.staff import is_taught_by
from app.teaching.identities.identity import RosterIdentity
from app.teaching.lti.errors import LaunchNotFound, LaunchRefused, PlatformNotFound
from app.teaching.lti.line_items import LineItems, MissingColumn
from app.teaching.lti.login_state import LIFE_S, States
from app.teaching.lti.messages import Message, key_of, verify
from app.teaching.lti.models import ContextRow, LaunchRow, LinkRow, ScoreRow, SelectionRow
from app.teaching.lti.platform_requests import PlatformRequests
from app.teaching.lti.platforms import Platform, Platforms
from app.teaching.lti.selections import selection_page
from app.teaching.lti.submission_reviews import review_page, reviewed_work

_SELECTION_LIFE = timedelta(hours=2)
_PROBLEM = re.compile(r"/problems/([a-z0-9_]{1,64})")
_ASSIGNMENT = re.compile(r"/courses/([0-9a-f]{32})\?assignment=([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch that waits to be finished. `user` is who it signs in; None if the platform's user has no account yet."""

    platform: Platform
    message: Message
    browser_hash: str
    user: User | None

    @property
    def identity(self) -> Identity:
        return Identity(self.platform.identity_issuer, self.message.subject, self.message.name)


@dataclass(frozen=True, slots=True)
class Arrival:
    """The page to show, and the column that the platform's gradebook should have."""

    page: str
    missing: MissingColumn | None = None


class Launches:
    """Safe to share between requests. `site` is the address of this service, with which targets begin."""

    def __init__(
        self,
        database: Database,
        accounts: Accounts,
        catalogue: Catalogue,
        platforms: Platforms,
        requests: PlatformRequests,
        line_items: LineItems,
        deployment_secret: bytes,
        site: str | None,
    ) -> None:
        self._database = database
        self._accounts = accounts
        self._catalogue = catalogue
        self._platforms = platforms
        self._requests = requests
        self._line_items = line_items
        self._states = States(deployment_secret)
        self._site = site

    async def begin(self, fields: dict[str, str], return_to: str, browser: str) -> str:
        """The address at the platform to which the browser is sent next. Raises `LaunchRefused`."""
        platform = await self._platforms.by_issuer(fields.get("iss", ""), fields.get("client_id"))
        if not fields.get("login_hint"):
            raise LaunchRefused("The request of the learning platform has no login_hint.")
        state = self._states.issue(platform.id, browser)
        query = {
            "scope": "openid",
            "response_type": "id_token",
            "response_mode": "form_post",
            "prompt": "none",
            "client_id": platform.client_id,
            "redirect_uri": return_to,
            "state": state,
            "nonce": self._states.nonce(state),
            "login_hint": fields["login_hint"],
        }
        if "lti_message_hint" in fields:
            query["lti_message_hint"] = fields["lti_message_hint"]
        return f"{platform.login_url}{'&' if '?' in platform.login_url else '?'}{urlencode(query)}"

    async def receive(self, id_token: str, state: str) -> str:
        """Verify the platform's message. Returns the ticket. Raises `LaunchRefused` and `PlatformFailed`."""
        began = self._states.read(state)
        try:
            platform = await self._platforms.get(began.platform_id)
        except PlatformNotFound:
            raise LaunchRefused("The learning platform has been removed since.") from None
        nonce = self._states.nonce(state)
        message = verify(
            id_token,
            await self._requests.key_set(platform, key_of(id_token)),
            issuer=platform.issuer,
            client_id=platform.client_id,
            nonce=nonce,
            site=self._site,
        )
        if message.deployment not in platform.deployments:
            raise LaunchRefused(
                f"The deployment {message.deployment[:100]!r} of the learning platform {platform.name!r} is not "
                "registered. An owner of this site can add it on the page Learning platforms."
            )
        ticket, moment = new_token(), now()
        values = {
            "nonce_hash": digest(nonce),
            "ticket_hash": digest(ticket),
            "browser_hash": began.browser_hash,
            "platform_id": platform.id,
            "message": message.to_text(),
            # As long as the state is valid, so the nonce is remembered until nobody can send it again.
            "expires_at": moment + timedelta(seconds=LIFE_S),
        }
        async with self._database.writing() as session:
            await session.execute(delete(LaunchRow).where(LaunchRow.expires_at <= moment))
            await session.execute(delete(SelectionRow).where(SelectionRow.expires_at <= moment))
            insert = insert_into(session, LaunchRow).values(values).on_conflict_do_nothing()
            if await session.scalar(insert.returning(LaunchRow.nonce_hash)) is None:
                raise LaunchRefused("This message was already used. Open the link in the learning platform again.")
        return ticket

    async def look(self, ticket: str) -> Launch:
        """The launch with this ticket, which stays valid. Raises `LaunchNotFound`."""
        async with self._database.reading() as session:
            row = await session.scalar(
                select(LaunchRow).where(LaunchRow.ticket_hash == digest(ticket), LaunchRow.expires_at > now())
            )
            if row is None:
                raise _over()
            platform = await self._platforms.get_in(session, row.platform_id)
            launch = Launch(platform, Message.of_text(row.message), row.browser_hash, None)
            known = await find(session, launch.identity)
            user = await session.get(UserRow, known.user_id) if known else None
        return launch if user is None else Launch(platform, launch.message, row.browser_hash, user_of(user))

    async def enter(self, ticket: str, user_agent: str) -> tuple[str, str]:
        """Sign in as the platform's user, with a new account if there is none. Returns a session's token and the page.

        Raises:
          LaunchNotFound, AccountDeactivated.
        """
        async with self._database.writing() as session:
            launch = await self._take(session, ticket)
            is_teacher = launch.platform.grants_instructor and launch.message.part == "teacher"
            role: Role = "instructor" if is_teacher else "student"
            user_id = await self._accounts.account_of_in(session, launch.identity, role)
            arrival = await self._arrive(session, launch, user_id)
            session_token = await self._accounts.sessions.open(session, user_id, user_agent)
        await self._add_column(arrival, launch, user_id)
        return session_token, arrival.page

    async def go_on(self, ticket: str, user: User) -> str:
        """As `enter`, for a browser that is signed in as the platform's user. Returns the page."""
        async with self._database.writing() as session:
            launch = await self._take(session, ticket)
            known = await find(session, launch.identity)
            if known is None or known.user_id != user.id:
                raise _over()
            arrival = await self._arrive(session, launch, user.id)
        await self._add_column(arrival, launch, user.id)
        return arrival.page

    async def link(self, ticket: str, caller: Caller) -> str:
        """Let the platform's user sign in to the caller's account from now on. Returns the page.

        Raises:
          SessionNeeded, SignInAgain, LaunchNotFound, IdentityTaken.
        """
        self._accounts.recent.require(caller)
        async with self._database.writing() as session:
            launch = await self._take(session, ticket)
            known = await find(session, launch.identity)
            if known is not None and known.user_id != caller.user.id:
                raise IdentityTaken(
                    "Another account already signs in from that learning platform. An owner can merge the two accounts."
                )
            if known is None:
                session.add(new_row(caller.user.id, launch.identity))
                await session.flush()
            arrival = await self._arrive(session, launch, caller.user.id)
        await self._add_column(arrival, launch, caller.user.id)
        return arrival.page

    async def _take(self, session: AsyncSession, ticket: str) -> Launch:
        row = LaunchRow
        taken = (
            await session.execute(
                update(row)
                .where(row.ticket_hash == digest(ticket), row.expires_at > now())
                .values(ticket_hash=None)
                .returning(row.platform_id, row.message, row.browser_hash)
            )
        ).one_or_none()
        if taken is None:
            raise _over()
        platform = await self._platforms.get_in(session, taken[0])
        return Launch(platform, Message.of_text(taken[1]), taken[2], None)

    async def _add_column(self, arrival: Arrival, launch: Launch, user_id: str) -> None:
        """Once the launch is stored: a platform that responds slowly must not hold a transaction."""
        if arrival.missing is None or (address := await self._line_items.create(arrival.missing)) is None:
            return
        async with self._database.writing() as session:
            link = await session.get(LinkRow, arrival.missing.link_id)
            if link is None:
                return
            link.line_item = address
            if launch.message.part == "learner":
                await expect_score(session, link.id, user_id, launch.message.subject)

    async def _arrive(self, session: AsyncSession, launch: Launch, user_id: str) -> Arrival:
        """Store what the message says of the course and of the link."""
        message = launch.message
        context = await _context(session, launch) if message.context else None
        course_id = context.course_id if context else None
        user = user_of(await session.get_one(UserRow, user_id))
        if course_id is not None and message.part != "other" and not await _teaches(session, user, course_id):
            role: MemberRole = "student" if message.part == "learner" else "assistant"
            await add_member_in(session, course_id, user_id, role)
            await learn_in(session, course_id, user, role, RosterIdentity(**message.person))
        if message.return_url is not None:
            return Arrival(await self._offer(session, launch, user_id, context))
        page, problem, assignment_id = await self._target(session, message.target, course_id)
        if message.reviewed is not None:
            work = await reviewed_work(session, message, context, problem, assignment_id)
            return Arrival(await review_page(session, launch.platform, message, work, user))
        missing = None
        if context is not None:
            link = await _link(session, context, message, problem, assignment_id)
            if message.part == "learner" and link.line_item is not None:
                await expect_score(session, link.id, user_id, message.subject)
            if link.line_item is None and message.line_items_url is not None and (problem or assignment_id):
                missing = MissingColumn(
                    platform=launch.platform,
                    link_id=link.id,
                    items_url=message.line_items_url,
                    resource=message.resource,
                    title=message.resource_title,
                    course_id=course_id,
                    problem=problem,
                    assignment_id=assignment_id,
                )
        return Arrival(page, missing)

    async def _offer(self, session: AsyncSession, launch: Launch, user_id: str, context: ContextRow | None) -> str:
        message = launch.message
        if message.part not in ("teacher", "assistant"):
            raise LaunchRefused("Only teachers of the course can choose what it links to.")
        row = SelectionRow(
            id=new_id(),
            user_id=user_id,
            context_id=context.id if context else None,
            platform_id=launch.platform.id,
            deployment=message.deployment,
            return_url=message.return_url,
            data=message.data,
            expires_at=now() + _SELECTION_LIFE,
        )
        session.add(row)
        return selection_page(row.id, several=message.is_multiple, columns=message.takes_columns)

    async def _target(
        self, session: AsyncSession, target: str, course_id: str | None
    ) -> tuple[str, str | None, str | None]:
        """The page, and the problem or the assignment that it is about."""
        otherwise = f"/courses/{course_id}" if course_id else "/problems"
        begin = f"{self._site}/"
        path = own_page(target[len(begin) - 1 :], "") if self._site and target.startswith(begin) else ""
        if (problem := _PROBLEM.fullmatch(path)) and self._catalogue.version_of(problem[1]):
            return path, problem[1], None
        if found := _ASSIGNMENT.fullmatch(path):
            row = await session.get(AssignmentRow, found[2])
            if row is not None and row.course_id == course_id:
                return f"/courses/{course_id}#a-{row.id}", None, row.id
        return otherwise, None, None


async def expect_score(session: AsyncSession, link_id: str, user_id: str, subject: str) -> None:
    """From now on, what the user scores for the link is sent for the subject, beginning with what they have."""
    row = ScoreRow
    again = {"user_id": user_id, **due_now()}
    await session.execute(
        insert_into(session, row)
        .values(id=new_id(), link_id=link_id, subject=subject, **again)
        .on_conflict_do_update(index_elements=[row.link_id, row.subject], set_=again)
    )


async def _context(session: AsyncSession, launch: Launch) -> ContextRow:
    message, row = launch.message, ContextRow
    key = (row.platform_id == launch.platform.id, row.context == message.context)
    context = await session.scalar(select(row).where(*key))
    if context is None:
        context = row(id=new_id(), platform_id=launch.platform.id, context=message.context, title="")
        session.add(context)
    context.title = message.context_title or context.title or message.context[:100]
    context.members_url = message.members_url or context.members_url
    await session.flush()
    return context


async def _link(
    session: AsyncSession, context: ContextRow, message: Message, problem: str | None, assignment_id: str | None
) -> LinkRow:
    row = LinkRow
    link = await session.scalar(select(row).where(row.context_id == context.id, row.resource == message.resource))
    if link is None:
        link = row(id=new_id(), context_id=context.id, resource=message.resource)
        session.add(link)
    link.title = message.resource_title or problem or ""
    link.problem, link.assignment_id = problem, assignment_id
    # One that this service created is in no message.
    created = link.line_item if message.line_items_url else None
    link.line_item = (message.line_item or created) if problem or assignment_id else None
    await session.flush()
    return link


def _over() -> LaunchNotFound:
    return LaunchNotFound("This launch was finished or took too long. Open the link in the learning platform again.")


async def _teaches(session: AsyncSession, user: User, course_id: str) -> bool:
    return bool(
        await session.scalar(select(is_taught_by(user)).select_from(CourseRow).where(CourseRow.id == course_id))
    )
