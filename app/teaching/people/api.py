"""REST: people, for instructors to read."""

from typing import Annotated

from fastapi import Query

from app.accounts.roles import Role
from app.accounts.web import Instructor
from app.core.rest.paging import ByName
from app.core.rest.routing import RestRouter
from app.core.services import Provided
from app.teaching.people.directory import Directory, PeopleFilter, Person, State
from app.teaching.people.schemas import PeoplePage

router = RestRouter("people")


@router.get("/people", summary="All accounts, by name")
async def list_people(
    user: Instructor,
    directory: Provided[Directory],
    cursor: ByName,
    q: Annotated[str, Query(max_length=100, description="A part of the name, or of what a roster says")] = "",
    role: Annotated[Role | None, Query(description="Only these")] = None,
    state: Annotated[State | None, Query(description="Only these")] = None,
) -> PeoplePage:
    only = PeopleFilter.read({"q": q, "role": role or "", "state": state or ""})
    people = await directory.list(only, cursor)
    return PeoplePage(people=people, next=people.next)


@router.get("/people/{person_id}", summary="One account")
async def get_person(person_id: str, user: Instructor, directory: Provided[Directory]) -> Person:
    return await directory.get(person_id)
