"""REST: the lessons, which are public, and runs of their programs."""

from fastapi import Request, Response

from app.accounts.web import MaybeGuest, MaybeUser, ReaderOrGuest, SubmitterOrGuest
from app.core.rest.actions import Actions
from app.core.rest.problem_json import located_response, problem_responses
from app.core.services import Provided
from app.grading.following import STATUS_EVENTS, LastEventId, Wait, event_response, followed_job, wait_for_end
from app.learning.lessons.lesson_files import Lessons
from app.learning.lessons.runs import LessonRun, LessonRuns
from app.learning.lessons.schemas import LessonDetail, LessonList, LessonRunJSON, LessonSummary, NewLessonRunJSON

actions = Actions("lessons")
router = actions.api


@router.get("/lessons", summary="All lessons, in reading order")
async def list_lessons(lessons: Provided[Lessons]) -> LessonList:
    return LessonList(lessons=[LessonSummary.of(each) for each in lessons.all()])


@router.get("/lessons/{slug}", summary="A lesson and its measured numbers")
async def get_lesson(slug: str, lessons: Provided[Lessons]) -> LessonDetail:
    return LessonDetail.of(lessons.get(slug))


@router.post(
    "/lessons/{slug}/runs",
    summary="Run a program of a lesson in the sandbox, as it is or changed",
    status_code=202,
    responses=located_response(202, "run", "Queued"),
)
async def run_lesson_program(
    request: Request,
    response: Response,
    user: SubmitterOrGuest,
    slug: str,
    body: NewLessonRunJSON,
    lessons: Provided[Lessons],
    lesson_runs: Provided[LessonRuns],
) -> LessonRunJSON:
    lesson = lessons.get(slug)
    run = await lesson_runs.request(user, lesson, body.program, body.source)
    response.headers["Location"] = f"/api/v1/lesson-runs/{run.id}"
    return LessonRunJSON.in_lesson(run, lesson)


@router.get(
    "/lesson-runs/{lesson_run_id}",
    summary="One of your runs of a lesson's program",
    responses=problem_responses(401, 403),
)
async def get_lesson_run(
    user: MaybeUser,
    guest: MaybeGuest,
    lesson_run_id: str,
    lesson_runs: Provided[LessonRuns],
    lessons: Provided[Lessons],
    wait: Wait = None,
) -> LessonRunJSON:
    if not wait or (reader := user or guest) is None:
        run = await lesson_runs.get(user or guest, lesson_run_id)
    else:
        run = await wait_for_end(followed_job(lesson_runs, reader, lesson_run_id), wait)
    return LessonRunJSON.in_lesson(run, lessons.find(run.lesson))


@router.get(
    "/lesson-runs/{lesson_run_id}/events",
    summary="Follow a run of a lesson's program with server-sent events",
    **STATUS_EVENTS,
)
async def follow_lesson_run(
    user: ReaderOrGuest,
    lesson_run_id: str,
    lesson_runs: Provided[LessonRuns],
    last_event_id: LastEventId = None,
) -> Response:
    return await event_response(followed_job(lesson_runs, user, lesson_run_id), last_event_id)


@actions.delete(
    "/lesson-runs/{lesson_run_id}",
    form="/lesson-runs/{lesson_run_id}/remove",
    then="/lessons/{result.lesson}#program-{result.program}",
    summary="Delete a run of a lesson's program; one that is queued or running is stopped",
    response_model=None,
)
async def remove_lesson_run(user: SubmitterOrGuest, lesson_run_id: str, lesson_runs: Provided[LessonRuns]) -> LessonRun:
    return await lesson_runs.remove(user, lesson_run_id)
