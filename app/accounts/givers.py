"""Who may change what somebody gave by hand, such as points: only a person whose role is at least the giver's."""

from typing import Literal, cast

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.accounts.roles import Role, is_at_least
from app.core.errors import RoleMissing

Giver = Role | Literal["gone"]
# An assistant of a course has the role of a student.
GIVEN_BY: dict[Giver, str] = {
    "student": "an assistant",
    "instructor": "an instructor",
    "owner": "an owner",
    "gone": "someone whose account was deleted",
}


async def giver_of(session: AsyncSession, user_id: str | None) -> Giver:
    """The present role of this giver."""
    role = await session.scalar(select(UserRow.role).where(UserRow.id == user_id))
    return "gone" if role is None else cast(Role, role)


def change_refusal(actor: User, giver: Giver) -> RoleMissing | None:
    """Why the actor must not change what the giver gave; None if they may."""
    # It may have been an instructor whose account is gone, so an assistant must not decide then.
    if is_at_least(actor.role, "instructor" if giver == "gone" else giver):
        return None
    who = "only owners can" if giver == "owner" else "only instructors and owners can"
    return RoleMissing(f"These points were given by {GIVEN_BY[giver]}, so {who} change or undo them.")
