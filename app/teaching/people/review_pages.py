"""A person's attempt, as instructors and assistants read it, and what they do there: comment, change points."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Query
from starlette.responses import HTMLResponse, Response

from app.accounts.audit.log import LONGEST_REASON
from app.accounts.web import Grader
from app.core.errors import OverrideRefused, ProblemNotFound, Refused
from app.core.rest.actions import Actions, FormPage, PageOf, Typed
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided
from app.core.web.templating import render_page
from app.grading.attempts.overrides import MOST_POINTS, Overrides, ScoreOverride
from app.grading.attempts.source_colours import colour_lines
from app.grading.attempts.views import AttemptJSON
from app.grading.comments.schemas import CommentList, NewCommentJSON
from app.grading.comments.service import LONGEST, Comment, Comments, may_remove
from app.presentation.verdict_view import arrange_verdict
from app.problems.catalogue import Catalogue
from app.teaching.people.read_access import PersonsAttempt
from app.teaching.people.schemas import NewOverrideJSON
from grader.package.variants import like

_PATH = "/people/{person_id}/attempts/{attempt_id}"


@dataclass(frozen=True)
class ReviewPage(FormPage):
    """The page of an attempt for those who may grade it: what its owner sees, without the buttons."""

    user: Grader
    found: PersonsAttempt
    catalogue: Provided[Catalogue]
    comments: Provided[Comments]
    overrides: Provided[Overrides]
    path = "/people/{found[0].id}/attempts/{found[1].id}"

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        return await self.show(typed, action, refusal)

    async def show(self, typed: Typed, refused_action: str = "", refusal: Refused | None = None) -> HTMLResponse:
        """`typed` is what the forms contain, and `refused_action` the one whose form was refused."""
        person, attempt = self.found
        try:
            package = like(self.catalogue.get(attempt.problem), attempt.variant)
            title, starter, is_answer = package.manifest.title, package.starter, package.manifest.mode == "answer"
        except ProblemNotFound:  # withdrawn since
            title, starter, is_answer = attempt.problem, "", False
        is_starter = attempt.source.split() == starter.split()
        verdict = attempt.verdict
        comments = await self.comments.of_attempt(attempt.id)
        return render_page(
            "teaching/people/person_attempt.html",
            user=self.user,
            person=person,
            attempt=attempt,
            kind=attempt.kind.capitalize(),
            title=title,
            view=arrange_verdict(verdict, is_starter=is_starter, is_answer=is_answer) if verdict else None,
            lines=await colour_lines(attempt.source),
            comments=comments,
            removable={each.id for each in comments if may_remove(self.user, each)},
            typed=typed,
            refusal=refusal,
            refusals={refused_action: refusal},
            longest=LONGEST,
            most_points=MOST_POINTS,
            longest_reason=LONGEST_REASON,
            points_refusal=await self.overrides.refusal(self.user, attempt.id),
        )


actions = Actions("people", ReviewPage, _PATH)
_POINTS = f"{_PATH}#points"


@actions.pages.get("")
async def show_attempt_of_person(
    page: PageOf[ReviewPage], line: Annotated[str, Query(max_length=9)] = ""
) -> HTMLResponse:
    """`line` is put into the form of a comment."""
    return await page.show(Typed(line=line))


@actions.api.get("/comments", summary="The comments on the attempt of a person")
async def list_comments_of_person(found: PersonsAttempt, comments: Provided[Comments]) -> CommentList:
    _, attempt = found
    return CommentList(comments=await comments.of_attempt(attempt.id))


@actions.post(
    "/comments",
    then=_PATH + "#comment-{result.id}",
    status_code=201,
    summary="Comment on a line of a person's attempt",
    responses=problem_responses(409),
)
async def add_comment(
    user: Grader, found: PersonsAttempt, body: NewCommentJSON, comments: Provided[Comments]
) -> Comment:
    person, attempt = found
    return await comments.add(user, person.id, attempt.id, attempt.source, body.line, body.text)


@actions.delete(
    "/comments/{comment_id}",
    form="/comments/{comment_id}/remove",
    then=_PATH + "#sent",
    summary="Remove a comment, as its author or as an owner",
)
async def remove_comment(comment_id: str, user: Grader, found: PersonsAttempt, comments: Provided[Comments]) -> None:
    person, attempt = found
    await comments.remove(user, person.id, attempt.id, comment_id)


@actions.put(
    "/override",
    then=_POINTS,
    summary="Give an attempt other points than its verdict does",
    responses=problem_responses(409),
)
async def override_score(
    user: Grader, found: PersonsAttempt, body: NewOverrideJSON, overrides: Provided[Overrides]
) -> ScoreOverride:
    attempt = _with_verdict(found)
    return await overrides.override(user, attempt.id, body.score, body.reason)


@actions.delete("/override", form="/override/undo", then=_POINTS, summary="Let the points of the verdict count again")
async def undo_override(user: Grader, found: PersonsAttempt, overrides: Provided[Overrides]) -> None:
    await overrides.undo(user, _with_verdict(found).id)


def _with_verdict(found: PersonsAttempt) -> AttemptJSON:
    """The attempt, whose verdict the caller sees. Raises `OverrideRefused`: what it answers would tell the verdict."""
    _, attempt = found
    if attempt.withheld_until is not None:
        raise OverrideRefused(
            "The attempt belongs to an exam of another course, which hides its verdict until "
            f"{attempt.withheld_until:%Y-%m-%d %H:%M} UTC. Change its points after that."
        )
    return attempt
