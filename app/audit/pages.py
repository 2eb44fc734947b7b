"""The page of the audit log, for owners."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse

from app.accounts.caller import User
from app.accounts.web import require_role
from app.audit.log import ACTION_WORDS
from app.audit.services import AuditServices
from app.services import services_of
from app.web.templating import render_page

router = APIRouter(include_in_schema=False)
Owner = Annotated[User, Depends(require_role("owner", "account"))]
_PAGE = 50


@router.get("/audit")
async def show_audit_log(
    request: Request, owner: Owner, before: Annotated[str | None, Query(max_length=100)] = None
) -> HTMLResponse:
    entries = await services_of(request, AuditServices).audit.list(_PAGE + 1, before)
    page, more = entries[:_PAGE], len(entries) > _PAGE
    return render_page(
        "audit.html",
        user=owner,
        entries=page,
        words=ACTION_WORDS,
        older=f"/audit?before={page[-1].id}" if more else None,
    )
