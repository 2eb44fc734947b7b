"""The list of people, and the page of each."""

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import HTMLResponse, Response

from app.accounts.roles import ROLES
from app.accounts.web import Instructor
from app.core.rest.actions import PageOf
from app.core.rest.paging import Cursor
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.templating import render_list
from app.teaching.people.account_actions import PersonPage
from app.teaching.people.directory import STATES, Directory, PeopleFilter

router = PageRouter("/people")
_PAGE = 50


@router.get("")
async def list_people(
    request: Request,
    user: Instructor,
    directory: Provided[Directory],
    after: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """The filter is in the address, and so in the address of each further page."""
    only = PeopleFilter.read(request.query_params)
    people = await directory.list(only, Cursor(_PAGE, after))
    return render_list(
        "teaching/people/people.html",
        user=user,
        people=people,
        total=await directory.count(only),
        wanted=only,
        roles=ROLES,
        states=STATES,
        first=only.address() if after else None,
        further=only.address(after=people.next) if people.next else None,
    )


@router.get("/{person_id}")
async def show_person(page: PageOf[PersonPage]) -> HTMLResponse:
    return await page.show()
