"""Mails with the invitations of a roster: one for each line, sent by the outbox."""

from sqlalchemy import select, update

from app.accounts.audit.log import record
from app.accounts.caller import User
from app.accounts.models import InvitationRow
from app.core.clock import now
from app.core.database import Database
from app.core.mail import Mail, Mailer, MailNotSent
from app.core.outbox import Outbox, Outcome, due_now
from app.core.view import View
from app.teaching.courses.due_dates import to_local
from app.teaching.courses.errors import MailOff
from app.teaching.courses.models import CourseRow, RosterLineRow
from app.teaching.courses.roster_links import RosterLinks
from app.teaching.courses.service import Course

# After each try that failed: six tries within about a day.
PAUSES_S = (60, 600, 3600, 4 * 3600, 18 * 3600)
_TEXT = """\
Hello{name},

you are invited to the course "{course}". Open this link to create your account and join:

{link}

If you already have an account here, open the link and sign in. You need no second one.
The link is only for you. It works once, until {until}.
"""


class InvitationMails(View):
    """How many mails are sent now, were sent before or wait, and how many people have no address."""

    mails: int
    earlier: int
    without_address: int


class RosterMails:
    """Safe to share between requests. The routes check that the caller manages the course."""

    def __init__(self, database: Database, links: RosterLinks, mailer: Mailer) -> None:
        self._database = database
        self._links = links
        self._mailer = mailer

    @property
    def is_on(self) -> bool:
        return self._mailer.is_on

    async def send(self, user: User, course: Course, site: str | None) -> InvitationMails:
        """Mail the invitations that nobody has used: those not sent before, and those whose sending failed for good.

        Raises `MailOff`.
        """
        if not self.is_on:
            raise MailOff("This service sends no mail. Its operator can set MESHGRADE_SMTP_URL.")
        line, invitation = RosterLineRow, InvitationRow
        query = (
            select(line.id, line.email, line.delivered_at, line.next_try_at, invitation.id, invitation.token_hash)
            .join(invitation, invitation.id == line.invitation_id)
            .where(line.course_id == course.id, line.user_id.is_(None), invitation.expires_at > now())
        )
        async with self._database.writing() as session:
            rows = [each for each in await session.execute(query) if self._links.is_known(each[4], each[5])]
            addressed = [each for each in rows if each[1]]
            ids = [each[0] for each in addressed if each[2] is None and each[3] is None]
            values = due_now() | {"site": site, "answer": None}
            await session.execute(update(line).where(line.id.in_(ids)).values(values))
            if ids:
                record(session, user, "invitations-mailed", None, "", f"{course.name}: {len(ids)}", course.id)
        return InvitationMails(
            mails=len(ids), earlier=len(addressed) - len(ids), without_address=len(rows) - len(addressed)
        )


class RosterMailSender:
    """Makes and sends the mails of its `outbox`."""

    def __init__(self, database: Database, links: RosterLinks, mailer: Mailer) -> None:
        self.outbox = Outbox("invitations by mail", database, RosterLineRow, self._send, pauses_s=PAUSES_S)
        self._database = database
        self._links = links
        self._mailer = mailer

    async def _send(self, line: RosterLineRow) -> Outcome:
        async with self._database.reading() as session:
            course = await session.get(CourseRow, line.course_id)
            query = select(InvitationRow).where(InvitationRow.id == line.invitation_id)
            invitation = await session.scalar(query.where(InvitationRow.expires_at > now()))
        if course is None or invitation is None or line.user_id is not None:
            return Outcome(False, None, is_sent=False)  # used, revoked or expired a moment ago
        until = to_local(invitation.expires_at, course.time_zone)
        text = _TEXT.format(
            name=f" {line.name}" if line.name else "",
            course=course.name,
            link=self._links.link(line.site, course.id, invitation.id),
            until=f"{until:%-d %B %Y}",
        )
        subject = f"Your invitation to {course.name}"
        try:
            await self._mailer.send(Mail(f"{line.id}.{invitation.id}", line.name, line.email, subject, text))
        except MailNotSent as failure:
            return Outcome(False, str(failure), is_sent=not failure.is_final)
        return Outcome(True, None)
