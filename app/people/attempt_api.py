"""REST: what instructors read of others."""

from typing import Annotated

from fastapi import Query

from app.accounts.web import Instructor
from app.attempts.schemas import AttemptPage, AttemptSummaryJSON
from app.attempts.service import Attempts
from app.database import Database
from app.people.at_problem import who_tried
from app.people.reading import PersonsAttempt, PersonsReach
from app.people.schemas import ProblemPeoplePage, SourcedAttemptJSON
from app.problems.service import Catalogue
from app.rest.paging import ByName, NewestFirst
from app.rest.routing import rest_router
from app.services import Provided

router = rest_router("people")


@router.get("/people/{person_id}/attempts", summary="The attempts and runs of an account, newest first")
async def list_attempts_of_person(
    may: PersonsReach,
    attempts: Provided[Attempts],
    cursor: NewestFirst,
    problem: Annotated[str | None, Query(pattern=r"^[a-z][a-z0-9_]{1,63}$", description="Only of this problem")] = None,
) -> AttemptPage:
    found = await attempts.list(may.owner, cursor, problem, for_instructor=True, within=may.problems)
    return AttemptPage(attempts=[AttemptSummaryJSON.of(each) for each in found], next=found.next)


@router.get("/people/{person_id}/attempts/{attempt_id}", summary="One attempt of a person, with its source")
async def get_attempt_of_person(found: PersonsAttempt) -> SourcedAttemptJSON:
    _, attempt = found
    return SourcedAttemptJSON.of(attempt)


@router.get("/problems/{slug}/people", summary="The people who have tried a problem, by name")
async def list_who_tried(
    slug: str,
    user: Instructor,
    catalogue: Provided[Catalogue],
    database: Provided[Database],
    cursor: ByName,
) -> ProblemPeoplePage:
    problem = catalogue.get(slug).slug
    people = await who_tried(database, user, problem, cursor)
    return ProblemPeoplePage(people=people, next=people.next)
