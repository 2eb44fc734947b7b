"""REST: the lessons, which are public."""

from fastapi import APIRouter, Request

from app.lessons.schemas import LessonDetail, LessonList, LessonSummary
from app.lessons.services import LessonServices
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["lessons"])


@router.get("/lessons", summary="All lessons, in the order in which they are best read")
async def list_lessons(request: Request) -> LessonList:
    lessons = services_of(request, LessonServices).lessons.all()
    return LessonList(lessons=[LessonSummary.of(each) for each in lessons])


@router.get("/lessons/{slug}", summary="A lesson and its measured numbers", responses=problem_responses(404))
async def get_lesson(request: Request, slug: str) -> LessonDetail:
    return LessonDetail.of(services_of(request, LessonServices).lessons.get(slug))
