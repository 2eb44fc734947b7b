"""REST: all data about you, and its deletion with your account."""

from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import StreamingResponse

from app.accounts.errors import NameDiffers
from app.accounts.web import Own
from app.core.database import Database
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import RestRouter
from app.core.services import Provided
from app.grading.queue.protocol import GradeQueue
from app.operations.personal_data.deletion import delete_account
from app.operations.personal_data.export import export_response

router = RestRouter("accounts")
_EXPORT_EXAMPLE = {
    "exported_at": "2026-01-05T09:30:00+00:00",
    "users": [{"id": "5f0c8e0e2f6b4d1c9a7e3b2d1f0a9c8b", "name": "ada", "role": "student"}],
    "attempts": [{"id": "8c2f6e1d9b7a4f5e8d3c2b1a0f9e8d7c", "problem": "fsdp_step", "source": "…"}],
}
EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A list of rows for each table, streamed",
        "content": {"application/json": {"schema": {"type": "object"}, "example": _EXPORT_EXAMPLE}},
    },
}


@router.get(
    "/me/export",
    summary="All data about you, without secrets",
    response_class=StreamingResponse,
    responses=EXPORTED,
)
async def export_me(caller: Own, database: Provided[Database]) -> StreamingResponse:
    return export_response(database, caller.user)


@router.delete(
    "/me",
    status_code=204,
    summary="Delete your account and all data about you",
    responses=problem_responses(409),
)
async def delete_me(
    caller: Own,
    name: Annotated[str, Query(max_length=200, description="Your name, to confirm")],
    database: Provided[Database],
    queue: Provided[GradeQueue],
) -> None:
    if name != caller.user.name:
        raise NameDiffers("`name` must be the name of your account. Nothing was deleted.")
    await delete_account(database, queue, caller.user)
