"""REST: the audit log, for owners."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from app.accounts.caller import User
from app.accounts.web import require_role
from app.audit.schemas import AuditEntryJSON, AuditPage
from app.audit.services import AuditServices
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["people"])
Owner = Annotated[User, Depends(require_role("owner", "account"))]


@router.get(
    "/audit",
    summary="What owners and instructors did to others, newest first",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_audit_entries(
    request: Request,
    owner: Owner,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="`next` of the previous page")] = None,
) -> AuditPage:
    entries = await services_of(request, AuditServices).audit.list(limit + 1, before)
    more = len(entries) > limit
    return AuditPage(
        entries=[AuditEntryJSON.of(each) for each in entries[:limit]], next=entries[limit - 1].id if more else None
    )
