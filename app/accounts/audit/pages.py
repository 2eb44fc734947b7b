"""The page of the audit log, for owners."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import HTMLResponse

from app.accounts.audit.log import ACTION_WORDS, AuditLog
from app.accounts.caller import User
from app.accounts.web import require_role
from app.core.rest.paging import Cursor
from app.core.services import Provided
from app.core.web.templating import render_page

router = APIRouter(include_in_schema=False)
Owner = Annotated[User, Depends(require_role("owner", "account"))]
_PAGE = 50


@router.get("/audit")
async def show_audit_log(
    owner: Owner, audit: Provided[AuditLog], before: Annotated[str | None, Query(max_length=100)] = None
) -> HTMLResponse:
    entries = await audit.list(Cursor(_PAGE, before))
    return render_page(
        "audit.html",
        user=owner,
        entries=entries,
        words=ACTION_WORDS,
        older=f"/audit?before={entries.next}" if entries.next else None,
    )
