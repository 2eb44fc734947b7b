"""REST: what instructors read of others."""

from typing import Annotated

from fastapi import Query

from app.accounts.web import Instructor
from app.core.database import Database
from app.core.rest.paging import ByName, NewestFirst
from app.core.rest.routing import RestRouter
from app.core.services import Provided
from app.grading.attempts.schemas import AttemptPage
from app.grading.attempts.service import Attempts
from app.problems.catalogue import Catalogue
from app.teaching.identities.identity import RosterIdentities
from app.teaching.people.at_problem import who_tried
from app.teaching.people.read_access import PersonsAttempt, PersonsReach
from app.teaching.people.schemas import ProblemPeoplePage, SourcedAttemptJSON

router = RestRouter("people")


@router.get("/people/{person_id}/attempts", summary="The attempts and runs of an account, newest first")
async def list_attempts_of_person(
    may: PersonsReach,
    attempts: Provided[Attempts],
    cursor: NewestFirst,
    problem: Annotated[str | None, Query(pattern=r"^[a-z][a-z0-9_]{1,63}$", description="Only of this problem")] = None,
) -> AttemptPage:
    found = await attempts.list(may.owner, cursor, problem, seen=may.seen, within=may.problems)
    return AttemptPage(attempts=found, next=found.next)


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
    identities: Provided[RosterIdentities],
    cursor: ByName,
) -> ProblemPeoplePage:
    problem = catalogue.get(slug).slug
    people = await who_tried(database, identities, user, problem, cursor)
    return ProblemPeoplePage(people=people, next=people.next)
