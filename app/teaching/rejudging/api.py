"""REST for instructors: grade earlier attempts again, see what would change, and apply it."""

from typing import Annotated

from fastapi import Query, Request, Response

from app.accounts.web import Instructor
from app.core.rest.actions import Actions
from app.core.rest.paging import ById, NewestFirst
from app.core.rest.problem_json import located_response, problem_responses
from app.core.services import Provided
from app.teaching.courses.service import Courses
from app.teaching.rejudging.schemas import ChangeJSON, ChangePage, NewRejudgeJSON, RejudgeCountJSON, RejudgePage
from app.teaching.rejudging.service import Rejudge, Rejudging

actions = Actions("authoring")
router = actions.api
_ONE = "/problems/{slug}/rejudges/{rejudge_id}"


@router.post(
    "/problems/{slug}/rejudge",
    summary="Grade attempts of other versions by this one, without changing scores until it is applied",
    status_code=202,
    responses={
        **located_response(
            202, "rejudge", "Started, or already in progress. Follow it at the address in the Location header"
        ),
        **problem_responses(409),
    },
)
async def rejudge_problem(
    request: Request,
    response: Response,
    user: Instructor,
    slug: str,
    body: NewRejudgeJSON,
    rejudging: Provided[Rejudging],
    courses: Provided[Courses],
) -> Rejudge:
    await courses.require_taught(user, body.course, body.assignment)
    rejudge = await rejudging.request(slug, body.version, body.to_selection())
    response.headers["Location"] = f"/api/v1/problems/{rejudge.problem}/rejudges/{rejudge.id}"
    return rejudge


@router.post(
    "/problems/{slug}/rejudge/count",
    summary="How many attempts a rejudge with this body would grade, without starting it",
    responses=problem_responses(409),
)
async def count_rejudge(
    user: Instructor, slug: str, body: NewRejudgeJSON, rejudging: Provided[Rejudging], courses: Provided[Courses]
) -> RejudgeCountJSON:
    await courses.require_taught(user, body.course, body.assignment)
    return RejudgeCountJSON.of(await rejudging.count(slug, body.version, body.to_selection()))


@router.get("/problems/{slug}/rejudges", summary="The rejudges of a problem, newest first")
async def list_rejudges(
    user: Instructor,
    slug: str,
    rejudging: Provided[Rejudging],
    cursor: NewestFirst,
) -> RejudgePage:
    rejudges = await rejudging.list(slug, cursor)
    return RejudgePage(rejudges=rejudges, next=rejudges.next)


@router.get(_ONE, summary="One rejudge and its progress")
async def get_rejudge(user: Instructor, slug: str, rejudge_id: str, rejudging: Provided[Rejudging]) -> Rejudge:
    return await rejudging.get(slug, rejudge_id)


@router.get(f"{_ONE}/changes", summary="The attempts whose status or score it changes")
async def list_changes(
    user: Instructor,
    slug: str,
    rejudge_id: str,
    rejudging: Provided[Rejudging],
    cursor: ById,
    losses: Annotated[bool, Query(description="Only attempts that lose points or the status `accepted`")] = False,
) -> ChangePage:
    rejudge = await rejudging.get(slug, rejudge_id)
    changes = await rejudging.changes(slug, rejudge_id, cursor, only_losses=losses)
    return ChangePage(changes=[ChangeJSON.to_version(each, rejudge.version) for each in changes], next=changes.next)


@router.post(
    f"{_ONE}/apply",
    summary="Put the new verdicts into effect",
    status_code=202,
    responses={
        202: {"description": "It is being applied, or already was"},
        **problem_responses(409),
    },
)
async def apply_rejudge(
    user: Instructor,
    slug: str,
    rejudge_id: str,
    rejudging: Provided[Rejudging],
    never_lower: Annotated[
        bool, Query(description="Attempts that would lose points or the status `accepted` keep their verdict")
    ] = False,
) -> Rejudge:
    return await rejudging.apply(user, slug, rejudge_id, never_lower=never_lower)


@actions.delete(
    _ONE,
    form="/authoring/{slug}/rejudges/{rejudge_id}/cancel",
    then="/authoring/{slug}/rejudges/{rejudge_id}",
    summary="Cancel it and discard its verdicts, without changing any attempt",
    status_code=200,
    responses=problem_responses(409),
)
async def cancel_rejudge(user: Instructor, slug: str, rejudge_id: str, rejudging: Provided[Rejudging]) -> Rejudge:
    return await rejudging.cancel(slug, rejudge_id)
