"""REST: interviews. The pages do the same with forms."""

from dataclasses import dataclass

from starlette.responses import Response

from app.accounts.caller import User
from app.accounts.web import Reader, Submitter
from app.core.clock import now
from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, Typed
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_page
from app.learning.interviews.interview import LEVELS, PROBLEMS, TIME, Interview
from app.learning.interviews.schemas import InterviewJSON, InterviewList, NewInterviewJSON
from app.learning.interviews.service import Interviews
from app.learning.interviews.summary import words_of

_PAGE = "/interviews/{interview_id}"


@dataclass(frozen=True)
class InterviewsPage(FormPage):
    """What an interview is, the form that begins one, and those that there were."""

    user: Reader
    interviews: Provided[Interviews]
    path = "/interviews"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed["level"], refusal)

    async def show(self, level: str = "mixed", refusal: Refused | None = None) -> Response:
        found = await self.interviews.list(self.user)
        moment = now()
        listed = [
            (each, each.is_over(moment), words_of(await self.interviews.outcomes(self.user, each))) for each in found
        ]
        return render_page(
            "learning/interviews/interviews.html",
            user=self.user,
            interviews=listed,
            levels=LEVELS,
            level=level,
            count=PROBLEMS,
            minutes=round(TIME.total_seconds() / 60),
            refusal=refusal,
        )


actions = Actions("interviews", InterviewsPage)
router = actions.api


@router.get("/interviews", summary="Your interviews, newest first")
async def list_interviews(user: Reader, interviews: Provided[Interviews]) -> InterviewList:
    return InterviewList(interviews=[each.id for each in await interviews.list(user)])


@actions.post(
    "/interviews",
    then="/interviews/{result.id}",
    summary="Begin an interview: three problems, each with 25 minutes, without hints",
    status_code=201,
    responses=problem_responses(409),
)
async def begin_interview(user: Submitter, body: NewInterviewJSON, interviews: Provided[Interviews]) -> InterviewJSON:
    return await _json(user, await interviews.begin(user, body.level), interviews)


@router.get("/interviews/{interview_id}", summary="One of your interviews, with what came of each problem")
async def get_interview(user: Reader, interview_id: str, interviews: Provided[Interviews]) -> InterviewJSON:
    return await _json(user, await interviews.get(user, interview_id), interviews)


@actions.post(
    f"{_PAGE}/next",
    then=_PAGE,
    summary="End the current problem and begin the next one; after the last, the interview ends",
    responses=problem_responses(409),
)
async def go_on(user: Submitter, interview_id: str, interviews: Provided[Interviews]) -> InterviewJSON:
    return await _json(user, await interviews.go_on(user, interview_id), interviews)


@actions.post(f"{_PAGE}/end", then=_PAGE, summary="End an interview", responses=problem_responses(409))
async def end_interview(user: Submitter, interview_id: str, interviews: Provided[Interviews]) -> InterviewJSON:
    return await _json(user, await interviews.end(user, interview_id), interviews)


async def _json(user: User, interview: Interview, interviews: Interviews) -> InterviewJSON:
    return InterviewJSON.of_interview(interview, await interviews.outcomes(user, interview), now())
