"""The theme that a reader chose: rendered by the server, kept in a cookie, and not an open redirect."""

import pytest

from tests.app.accounts.people import SITE, browser, form_token

pytestmark = pytest.mark.anyio


async def choose(http, theme, **fields):
    token = form_token((await http.get("/problems")).text)
    return await http.post("/theme", data={"form_token": token, "theme": theme, **fields}, headers=SITE)


async def test_the_page_comes_in_the_colours_that_were_chosen(service):
    async with browser(service) as http:
        assert "data-theme=" not in (await http.get("/problems")).text
        answer = await choose(http, "dark", next="/problems?tag=fsdp")
        assert (answer.status_code, answer.headers["location"]) == (303, "/problems?tag=fsdp")
        assert "HttpOnly" in answer.headers["set-cookie"]
        page = (await http.get("/problems")).text
        assert '<html lang="en" data-theme="dark">' in page
        assert '<meta name="color-scheme" content="dark">' in page
        assert 'value="dark" aria-pressed="true"' in page
        assert 'data-theme="dark"' in (await http.get("/nowhere")).text
        await choose(http, "system")
        assert "data-theme=" not in (await http.get("/problems")).text


async def test_only_themes_are_kept(service):
    async with browser(service) as http:
        await choose(http, '"><script>')
        http.cookies.set("meshgrade_theme", "light&quot;", domain="meshgrade.test")
        assert "data-theme=" not in (await http.get("/problems")).text


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "/\\evil.example", ""])
async def test_it_leads_to_a_page_of_this_site(service, elsewhere):
    async with browser(service) as http:
        assert (await choose(http, "dark", next=elsewhere)).headers["location"] == "/"


async def test_the_form_leads_back_to_the_page_that_it_is_on(service):
    async with browser(service) as http:
        page = (await http.get("/problems?q=%22a%20b%22&tag=x")).text
        assert '<input type="hidden" name="next" value="/problems?q=%22a%20b%22&amp;tag=x">' in page


async def test_a_form_of_another_site_chooses_nothing(service):
    async with browser(service) as http:
        answer = await http.post("/theme", data={"theme": "dark"}, headers={"Origin": "http://evil.example"})
        assert answer.status_code == 403
        assert "meshgrade_theme" not in answer.headers.get("set-cookie", "")
