"""REST: the audit log, for owners."""

from typing import Annotated

from fastapi import Query

from app.accounts.audit.log import AuditLog
from app.accounts.audit.schemas import AUDIT_SEARCH, AuditPage
from app.accounts.web import Owner
from app.core.rest.paging import NewestFirst
from app.core.rest.routing import RestRouter
from app.core.services import Provided

router = RestRouter("people")


@router.get("/audit", summary="What owners and instructors did to others, newest first")
async def list_audit_entries(
    owner: Owner,
    audit: Provided[AuditLog],
    cursor: NewestFirst,
    q: Annotated[str, Query(max_length=100, description=AUDIT_SEARCH)] = "",
) -> AuditPage:
    entries = await audit.list(cursor, q=q.strip())
    return AuditPage(entries=entries, next=entries.next)
