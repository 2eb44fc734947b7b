"""The search over the whole site: a page, and the same results for the list that Ctrl-K opens."""

from itertools import groupby
from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.responses import HTMLResponse, JSONResponse

from app.accounts.web import MaybeUser, current_caller, current_user
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.templating import render_page
from app.teaching.search.finder import LONGEST, Finder

router = PageRouter()
_MOST_ON_PAGE = 50
_MOST_IN_LIST = 6


@router.get("/search")
async def search(request: Request, user: MaybeUser, finder: Provided[Finder], q: str = "") -> HTMLResponse:
    q = q[:LONGEST]
    hits = await finder.find(await current_caller(request), q, _MOST_ON_PAGE)
    groups = [(name, list(found)) for name, found in groupby(hits, lambda hit: hit.group)]
    return render_page("teaching/search/search.html", user=user, q=q, groups=groups)


@router.get("/search/found", dependencies=[Depends(current_user)])
async def list_found(
    request: Request, finder: Provided[Finder], q: Annotated[str, Query(max_length=LONGEST)] = ""
) -> JSONResponse:
    hits = await finder.find(await current_caller(request), q, _MOST_IN_LIST)
    return JSONResponse([hit.model_dump() for hit in hits], headers={"Cache-Control": "private, no-store"})
