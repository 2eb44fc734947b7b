"""The page of the audit log, for owners."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from app.accounts.audit.log import ACTION_WORDS, AuditLog
from app.accounts.web import Owner
from app.core.rest.list_links import SHOWN, ListLinks
from app.core.rest.paging import Cursor
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.templating import render_list

router = PageRouter()


@router.get("/audit")
async def show_audit_log(
    owner: Owner,
    audit: Provided[AuditLog],
    q: Annotated[str, Query(max_length=100)] = "",
    before: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    entries = await audit.list(Cursor(SHOWN, before), q=q.strip())
    links = ListLinks("/audit", entries, before, {"q": q.strip()}, cursor="before")
    return render_list(
        "accounts/audit/audit.html", user=owner, course=None, entries=entries, words=ACTION_WORDS, links=links
    )
