"""An instructor rejudges on a page: gains and losses are shown before any score changes."""

import asyncio

import pytest

from app.accounts.audit.log import AuditLog
from app.core.rest.paging import Cursor
from tests.app.accounts.people import browser, send_form, sign_in, sign_up
from tests.app.loops import quicken
from tests.app.teaching.rejudging.test_rejudge import NEW_SOURCE, OLD_SOURCE, published, scores, student, submit

pytestmark = pytest.mark.anyio
PAGE = "/authoring/add_one"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    quicken(monkeypatch)


async def shown(http, address: str, status: str) -> str:
    """Fails with the page as it is if it does not show this in time."""
    for _ in range(1000):
        answer = await http.get(address)
        assert answer.status_code == 200, answer.text
        if status in answer.text:
            return answer.text
        await asyncio.sleep(0.02)
    pytest.fail(answer.text)


async def test_the_page_says_who_gains_and_who_loses_and_applies_it(either):
    ada, bob = await student(either, "ada"), await student(either, "bob")
    was_right, is_right = await submit(either, OLD_SOURCE, ada), await submit(either, NEW_SOURCE, bob)
    version = await published(either)
    async with browser(either) as grace:
        await sign_up(either, grace, "grace", "instructor")
        version_page = f"{PAGE}/versions/{version}"
        assert "Rejudge 2 attempts at other versions" in (await grace.get(version_page)).text
        asked = await send_form(grace, version_page, f"{PAGE}/rejudge", version=version)
        address = asked.headers["location"]
        page = await shown(grace, address, "All 2 attempts are graded.")
        assert '<strong class="number">1</strong> attempt gains points <span class="soft">(1 person)' in page
        assert '<strong class="number">1</strong> attempt loses points' in page
        assert page.index("<td>ada</td>") < page.index("</table>") > page.index("<td>bob</td>")
        assert await scores(either, ada, was_right) == [100]
        assert (await send_form(grace, address, f"{address}/apply")).status_code == 303
        await shown(grace, address, "The new verdicts are in effect.")
        [entry] = await either.services[AuditLog].list(Cursor(10))
        assert (entry.actor.name, entry.action, entry.whom) == ("grace", "rejudge-applied", None)
        assert entry.detail == f"add_one, by version {version[:12]}"
        async with browser(either) as owner:
            await sign_in(either, owner)
            assert f"applied a rejudge: {entry.detail}" in (await owner.get("/audit")).text
        assert await scores(either, bob, is_right) == [100]
        assert f'href="{address}"' in (await grace.get(f"{PAGE}/rejudges")).text


async def test_without_a_version_the_published_one_grades(service):
    await submit(service, OLD_SOURCE, await student(service, "ada"))
    version = await published(service)
    async with browser(service) as grace:
        await sign_up(service, grace, "grace", "instructor")
        page = await grace.get(f"{PAGE}/rejudge")
        assert (page.status_code, f'name="version" value="{version}"' in page.text) == (200, True)
        refused = await send_form(grace, f"{PAGE}/rejudge", f"{PAGE}/rejudge", version="")
        assert (refused.status_code, "no version was named" in refused.text) == (404, True)


async def test_it_is_cancelled(service):
    await submit(service, OLD_SOURCE, await student(service, "ada"))
    version = await published(service)
    async with browser(service) as grace:
        await sign_up(service, grace, "grace", "instructor")
        asked = await send_form(grace, f"{PAGE}/versions/{version}", f"{PAGE}/rejudge", version=version)
        address = asked.headers["location"]
        cancelled = await send_form(grace, address, f"{address}/cancel")
        assert "No attempt was changed." in (await grace.get(cancelled.headers["location"])).text
