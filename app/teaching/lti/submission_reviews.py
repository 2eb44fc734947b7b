"""Where a platform leads when someone opens a submission from its gradebook.

https://www.imsglobal.org/spec/lti-sr/v1p0
"""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.caller import User
from app.accounts.identities import Identity, find
from app.grading.attempts.filter import AttemptFilter
from app.teaching.courses.models import AssignmentProblemRow
from app.teaching.courses.staff import manages
from app.teaching.lti.errors import LaunchRefused
from app.teaching.lti.messages import Message
from app.teaching.lti.models import ContextRow, LinkRow
from app.teaching.lti.platforms import Platform


async def reviewed_work(
    session: AsyncSession, message: Message, context: ContextRow | None, problem: str | None, assignment_id: str | None
) -> list[str]:
    """The problems of the column that the message names: those of its link, otherwise of the page it leads to."""
    row = LinkRow
    if context is not None:
        is_link = (row.line_item == message.line_item) | (row.resource == message.resource)
        links = select(row).where(row.context_id == context.id, is_link)
        # The column decides: a message can name the link of another one.
        found = sorted(await session.scalars(links), key=lambda link: link.line_item != message.line_item)
        if found:
            problem, assignment_id = found[0].problem, found[0].assignment_id
    if problem is not None or assignment_id is None:
        return [problem] if problem else []
    within = select(AssignmentProblemRow.problem).where(AssignmentProblemRow.assignment_id == assignment_id)
    return list(await session.scalars(within.order_by(AssignmentProblemRow.position)))


async def review_page(
    session: AsyncSession, platform: Platform, message: Message, problems: list[str], user: User
) -> str:
    """The attempts of the student at these problems, for staff; a student gets their own. Raises `LaunchRefused`.

    Each page checks who may read it, as for any other visit.
    """
    only = AttemptFilter(among=",".join(problems))
    if message.part not in ("teacher", "assistant") and not manages(user):
        return only.address()
    student = await find(session, Identity(platform.identity_issuer, message.reviewed or "", ""))
    if student is None:
        raise LaunchRefused(
            "This student has no account here yet, so there is no submission. It appears once they have opened a link."
        )
    return only.address(f"/people/{student.user_id}/attempts")
