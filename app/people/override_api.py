"""REST: the points of an attempt, changed by hand."""

from app.accounts.web import Grader
from app.attempts.overrides import Overrides, ScoreOverride
from app.people.reading import PersonsAttempt
from app.people.schemas import NewOverrideJSON
from app.rest.problem_json import problem_responses
from app.rest.routing import rest_router
from app.services import Provided

router = rest_router("people", "/people/{person_id}/attempts/{attempt_id}/override")


@router.put("", summary="Give an attempt other points than its verdict does", responses=problem_responses(409))
async def override_score(
    user: Grader, found: PersonsAttempt, body: NewOverrideJSON, overrides: Provided[Overrides]
) -> ScoreOverride:
    _, attempt = found
    return await overrides.override(user, attempt.id, body.score, body.reason)


@router.delete("", status_code=204, summary="Let the points of the verdict count again")
async def undo_override(user: Grader, found: PersonsAttempt, overrides: Provided[Overrides]) -> None:
    _, attempt = found
    await overrides.undo(user, attempt.id)
