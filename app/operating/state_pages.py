"""The page on which owners see the queue, the pool and the walls, and what is unhealthy."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse

from app.accounts.caller import User
from app.accounts.web import require_role
from app.database import Database
from app.operating.state import read_state
from app.problems.service import Catalogue
from app.queue.local_judge import LocalJudge
from app.queue.walls import Walls
from app.queue.workers import Workers
from app.services import Provided
from app.settings import Settings
from app.web.templating import render_page

router = APIRouter(include_in_schema=False)
Owner = Annotated[User, Depends(require_role("owner", "account"))]


@router.get("/service")
async def show_state(
    user: Owner,
    database: Provided[Database],
    settings: Provided[Settings],
    catalogue: Provided[Catalogue],
    walls: Provided[Walls],
    workers: Provided[Workers],
    judge: Provided[LocalJudge],
) -> HTMLResponse:
    """A script or the browser reloads it."""
    state = await read_state(
        database,
        settings,
        catalogue,
        walls,
        workers,
        judge,
    )
    return render_page("service.html", user=user, state=state)
