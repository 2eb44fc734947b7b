"""The links for people who are invited by a roster. Each creates an account and then opens the course.

A link can be shown again, because its token comes from the deployment secret: only the id of the invitation is needed.
"""

import base64
import hashlib
import hmac

from sqlalchemy import select

from app.accounts.digest import digest
from app.accounts.models import InvitationRow
from app.core.clock import now
from app.core.database import Database
from app.teaching.courses.models import RosterLineRow
from app.teaching.courses.service import Course


class RosterLinks:
    """Safe to share between requests."""

    def __init__(self, deployment_secret: bytes) -> None:
        self._key = hmac.digest(deployment_secret, b"roster invitation", hashlib.sha256)

    def token(self, invitation_id: str) -> str:
        return base64.urlsafe_b64encode(hmac.digest(self._key, invitation_id.encode(), hashlib.sha256)).decode()[:43]

    def is_known(self, invitation_id: str, token_hash: str) -> bool:
        """Whether the token of this invitation came from here."""
        return hmac.compare_digest(digest(self.token(invitation_id)), token_hash)

    def link(self, site: str | None, course_id: str, invitation_id: str) -> str:
        """Only a path if the address of the site is unknown."""
        return f"{site or ''}/sign-up?invitation={self.token(invitation_id)}&next=%2Fcourses%2F{course_id}"


class RosterInvitations:
    """Safe to share between requests. The routes check that the caller manages the course."""

    def __init__(self, database: Database, links: RosterLinks) -> None:
        self._database = database
        self._links = links

    async def unused(self, course: Course, site: str | None) -> list[tuple[str, str, str]]:
        """Name, address and link of everyone whose invitation can be used, by name.

        Invitations that were created before their links could be shown again are left out.
        """
        line, invitation = RosterLineRow, InvitationRow
        query = (
            select(line, invitation.token_hash)
            .join(invitation, invitation.id == line.invitation_id)
            .where(line.course_id == course.id, line.user_id.is_(None), invitation.expires_at > now())
            .order_by(line.name, line.email, line.id)
        )
        async with self._database.reading() as session:
            return [
                (each.name, each.email, self._links.link(site, course.id, each.invitation_id or ""))
                for each, token_hash in await session.execute(query)
                if self._links.is_known(each.invitation_id or "", token_hash)
            ]
