"""The side bars list what a reader may open, and nothing else."""

import pytest

from app.core.web.areas import AREAS, side_bar
from tests.app.accounts.people import browser, sign_in, sign_up

pytestmark = pytest.mark.anyio
PAGES = [each for entries in AREAS.values() for each in entries]


async def test_each_entry_is_open_to_those_who_see_it_alone(shared_service):
    async with browser(shared_service) as student, browser(shared_service) as tess, browser(shared_service) as owner:
        await sign_up(shared_service, student, "sam")
        await sign_up(shared_service, tess, "tessa", "instructor")
        await sign_in(shared_service, owner)
        for role, http in (("student", student), ("instructor", tess), ("owner", owner)):
            for each in PAGES:
                answer = await http.get(each.path)
                is_listed = each in side_bar(role, each.path)[1]
                # Students have courses, too, without a side bar.
                assert (answer.status_code == 200) == (is_listed or each.path == "/courses"), (role, each.path)
                assert (f'<a href="{each.path}" aria-current="page">' in answer.text) == is_listed, (role, each.path)


async def test_a_page_below_an_entry_marks_it(shared_service):
    async with browser(shared_service) as owner:
        await sign_in(shared_service, owner)
        page = (await owner.get("/problems/add_one/insight")).text
    assert '<a href="/insight" aria-current="true">Insight</a>' in page
    assert 'aria-current="page">Insight</a>' not in page.split("</nav>")[1]
