"""The page on which owners see the queue, the pool and the walls, and what is unhealthy."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse

from app.accounts.caller import User
from app.accounts.web import require_role
from app.operating.services import OperatingServices
from app.operating.state import read_state
from app.services import services_of
from app.web.templating import render_page

router = APIRouter(include_in_schema=False)
Owner = Annotated[User, Depends(require_role("owner", "account"))]


@router.get("/service")
async def show_state(request: Request, user: Owner) -> HTMLResponse:
    """It renews itself, by a module or by the browser."""
    services = services_of(request, OperatingServices)
    state = await read_state(
        services.database,
        services.settings,
        services.catalogue,
        services.walls,
        services.workers,
        services.pool_stats,
        services.preparation,
    )
    return render_page("service.html", user=user, state=state)
