"""The pages of interviews: where one begins, and one of them, while it lasts and as its summary."""

from starlette.responses import HTMLResponse, Response

from app.accounts.web import Reader
from app.core.clock import now
from app.core.rest.actions import PageOf
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.templating import render_page
from app.learning.interviews.api import InterviewsPage
from app.learning.interviews.interview import TIME
from app.learning.interviews.service import Interviews
from app.learning.interviews.summary import words_of
from app.learning.lessons.lesson_files import Lessons
from app.problems.catalogue import Catalogue

router = PageRouter()


@router.get("/interviews")
async def show_interviews(page: PageOf[InterviewsPage]) -> Response:
    return await page.show()


@router.get("/interviews/{interview_id}")
async def show_interview(
    user: Reader,
    interview_id: str,
    interviews: Provided[Interviews],
    catalogue: Provided[Catalogue],
    lessons: Provided[Lessons],
) -> HTMLResponse:
    interview, moment = await interviews.get(user, interview_id), now()
    outcomes = await interviews.outcomes(user, interview)
    missed = [each.place.slug for each in outcomes if not each.is_solved]
    return render_page(
        "learning/interviews/interview.html",
        user=user,
        interview=interview,
        is_over=interview.is_over(moment),
        now=moment,
        outcomes=outcomes,
        words=words_of(outcomes),
        titles=catalogue.titles(),
        minutes=round(TIME.total_seconds() / 60),
        lessons={slug: lessons.leading_to([slug]) for slug in missed},
    )
