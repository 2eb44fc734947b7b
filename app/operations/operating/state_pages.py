"""The page on which owners see the queue, the pool and the walls, and what is unhealthy."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import HTMLResponse

from app.accounts.caller import User
from app.accounts.web import require_role
from app.core.database import Database
from app.core.services import Provided
from app.core.settings import Settings
from app.core.web.templating import render_page
from app.grading.queue.local_judge import LocalJudge
from app.grading.queue.walls import Walls
from app.grading.queue.workers import Workers
from app.operations.operating.service_state import read_state
from app.problems.catalogue import Catalogue

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
