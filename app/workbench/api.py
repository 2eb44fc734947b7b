"""REST: the draft of a problem, its editorial, and giving it up."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from app.accounts.caller import User
from app.accounts.web import require_scope
from app.attempts.questions import question_of
from app.errors import EditorialClosed
from app.problems.exams import refuse_in_exam
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of
from app.workbench.editorial import access_of
from app.workbench.question_schemas import QuestionJSON
from app.workbench.schemas import DraftJSON, EditorialJSON, GiveUpJSON, SaveDraftJSON, SurrenderJSON
from app.workbench.services import WorkbenchServices

router = APIRouter(tags=["attempts"])


@router.get(
    "/problems/{slug}/draft",
    summary="Your draft at a problem",
    response_model=DraftJSON,
    responses=problem_responses(401, 403, 404, 429),
)
async def read_draft(request: Request, slug: str, user: Annotated[User, Depends(require_scope("read"))]) -> DraftJSON:
    return DraftJSON.of(await services_of(request, WorkbenchServices).drafts.get(user, slug))


@router.put(
    "/problems/{slug}/draft",
    summary="Save a draft, based on a revision",
    response_model=DraftJSON,
    responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 429),
    openapi_extra=body_of(SaveDraftJSON),
)
async def save_draft(request: Request, slug: str, user: Annotated[User, Depends(require_scope("submit"))]) -> DraftJSON:
    body = await read_json(request, SaveDraftJSON)
    drafts = services_of(request, WorkbenchServices).drafts
    return DraftJSON.of(await drafts.save(user, slug, body.source, body.revision))


@router.get(
    "/problems/{slug}/editorial",
    summary="The editorial, once you have solved the problem or given it up",
    response_model=EditorialJSON,
    responses=problem_responses(401, 403, 404, 429),
)
async def read_editorial(
    request: Request, slug: str, user: Annotated[User, Depends(require_scope("read"))]
) -> EditorialJSON:
    services = services_of(request, WorkbenchServices)
    package = services.catalogue.get(slug)
    await refuse_in_exam(services.exams, user, package.slug)
    is_open, gave_up_at = await access_of(user, services, package)
    if not is_open:
        raise EditorialClosed("It opens when an attempt of yours is accepted, or when you give up the problem.")
    return EditorialJSON(problem=package.slug, editorial=package.editorial, gave_up_at=gave_up_at)


@router.post(
    "/problems/{slug}/give-up",
    summary="Give up a problem: opens its editorial, and ends scoring",
    response_model=SurrenderJSON,
    responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 429),
    openapi_extra=body_of(GiveUpJSON),
)
async def give_up(
    request: Request, slug: str, user: Annotated[User, Depends(require_scope("submit"))]
) -> SurrenderJSON:
    await read_json(request, GiveUpJSON)
    services = services_of(request, WorkbenchServices)
    problem = services.catalogue.get(slug).slug
    return SurrenderJSON(problem=problem, gave_up_at=await services.give_ups.give_up(user, problem))


@router.get(
    "/problems/{slug}/question",
    summary="The question that you are asked, at a problem of mode answer",
    response_model=QuestionJSON,
    responses=problem_responses(401, 403, 404, 429, 503),
)
async def read_question(
    request: Request, slug: str, user: Annotated[User, Depends(require_scope("read"))]
) -> QuestionJSON:
    services = services_of(request, WorkbenchServices)
    package = services.catalogue.get(slug)
    async with services.database.reading() as session:
        current = await question_of(session, user, package)
    is_closed = await services.exams.open_until(user, package.slug) is not None
    return QuestionJSON.of(package, replace(current, is_closed=is_closed))
