"""The page on which owners see the queue, the pool and the walls, and what is unhealthy."""

from typing import Annotated

from fastapi import Depends
from starlette.responses import HTMLResponse

from app.accounts.web import Owner
from app.core.rest.routing import PageRouter
from app.core.web.templating import render_page
from app.operations.operating.service_state import ServiceState, read_state

router = PageRouter()


@router.get("/service")
async def show_state(user: Owner, state: Annotated[ServiceState, Depends(read_state)]) -> HTMLResponse:
    """A script or the browser reloads it."""
    return render_page("operations/operating/service.html", user=user, state=state)
