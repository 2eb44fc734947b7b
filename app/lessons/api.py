"""REST: the lessons, which are public, and runs of their programs."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from app.accounts.caller import User
from app.accounts.web import admit_guests, current_guest, current_user
from app.lessons.schemas import LessonDetail, LessonList, LessonRunJSON, LessonSummary, NewLessonRunJSON
from app.lessons.services import LessonServices
from app.rest.body import body_of, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["lessons"])
MaybeUser = Annotated[User | None, Depends(current_user)]
MaybeGuest = Annotated[User | None, Depends(current_guest)]
SubmitterOrGuest = Annotated[User, Depends(admit_guests("submit"))]


@router.get("/lessons", summary="All lessons, in the order in which they are best read")
async def list_lessons(request: Request) -> LessonList:
    lessons = services_of(request, LessonServices).lessons.all()
    return LessonList(lessons=[LessonSummary.of(each) for each in lessons])


@router.get("/lessons/{slug}", summary="A lesson and its measured numbers", responses=problem_responses(404))
async def get_lesson(request: Request, slug: str) -> LessonDetail:
    return LessonDetail.of(services_of(request, LessonServices).lessons.get(slug))


@router.post(
    "/lessons/{slug}/runs",
    summary="Run a program of a lesson in the sandbox, as it is or changed",
    status_code=202,
    responses={
        202: {
            "description": "Queued",
            "headers": {"Location": {"schema": {"type": "string"}, "description": "Address of the run"}},
        },
        **problem_responses(400, 401, 403, 404, 413, 415, 422, 429),
    },
    openapi_extra=body_of(NewLessonRunJSON),
)
async def run_lesson_program(request: Request, response: Response, user: SubmitterOrGuest, slug: str) -> LessonRunJSON:
    body = await read_json(request, NewLessonRunJSON)
    services = services_of(request, LessonServices)
    lesson = services.lessons.get(slug)
    run = await services.lesson_runs.request(user, lesson, body.program, body.source)
    response.headers["Location"] = f"/api/v1/lesson-runs/{run.id}"
    return LessonRunJSON.of(run, lesson)


@router.get(
    "/lesson-runs/{lesson_run_id}",
    summary="One of your runs of a lesson's program",
    responses=problem_responses(401, 403, 404),
)
async def get_lesson_run(request: Request, user: MaybeUser, guest: MaybeGuest, lesson_run_id: str) -> LessonRunJSON:
    services = services_of(request, LessonServices)
    run = await services.lesson_runs.get(user or guest, lesson_run_id)
    return LessonRunJSON.of(run, services.lessons.find(run.lesson))


@router.delete(
    "/lesson-runs/{lesson_run_id}",
    summary="Delete a run of a lesson's program; one that is queued or running is stopped",
    status_code=204,
    responses=problem_responses(401, 403, 404),
)
async def remove_lesson_run(request: Request, user: SubmitterOrGuest, lesson_run_id: str) -> None:
    await services_of(request, LessonServices).lesson_runs.remove(user, lesson_run_id)
