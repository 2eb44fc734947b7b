"""Signing in and signing up lead back to the page that they were begun on, and to no other site."""

import html
import re

import pytest

from tests.app.accounts.people import PASSWORD, SITE, browser, form_token, sign_in, sign_up

pytestmark = pytest.mark.anyio
ELSEWHERE = ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/\t/evil.example"]


def sign_in_link(page: str) -> str:
    """The address that the link in a page's header leads to."""
    return html.unescape(re.findall(r'<a [^>]*href="(/sign-in[^"]*)">Sign in</a>', page)[0])


async def send_password(http, address: str, password: str = PASSWORD):
    # The theme form comes before it, and also leads back.
    page = (await http.get(address)).text.partition("<main")[2]
    hidden = html.unescape(re.search(r'name="next" value="([^"]*)"', page)[1])
    fields = {"form_token": form_token(page), "name": "ada", "password": password, "next": hidden}
    return await http.post("/sign-in", data=fields, headers=SITE)


@pytest.fixture
async def ada(service):
    """Return a browser in which she has signed out."""
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        http.cookies.clear()
        yield http


@pytest.mark.parametrize(
    ("page", "status", "link"),
    [
        ("/", 200, "/sign-in"),
        ("/problems/add_one", 200, "/sign-in?next=/problems/add_one"),
        ("/attempts?before=1", 401, "/sign-in?next=/attempts%3Fbefore%3D1"),
        ("/nowhere/%C3%A4", 404, "/sign-in?next=/nowhere/%25C3%25A4"),
        ("/sign-up?invitation=secret", 403, "/sign-in"),
        ("/sign-in?token=secret", 403, "/sign-in"),
    ],
)
async def test_a_page_leads_to_the_sign_in_and_back(ada, page, status, link):
    answer = await ada.get(page)
    assert answer.status_code == status
    assert sign_in_link(answer.text) == link
    target = page if "next=" in link else "/"
    assert (await send_password(ada, link)).headers["location"] == target


async def test_a_wrong_password_keeps_the_way_back_and_says_it_once(ada):
    refused = await send_password(ada, "/sign-in?next=/problems/add_one", "a wrong password")
    assert refused.status_code == 401
    assert 'name="next" value="/problems/add_one"' in refused.text
    assert refused.text.count("The name or the password is wrong") == 1


@pytest.mark.parametrize("page", ELSEWHERE)
async def test_nobody_is_led_to_another_site(ada, page):
    shown = await ada.get("/sign-in", params={"next": page})
    assert 'name="next" value="/"' in shown.text
    fields = {"form_token": form_token(shown.text), "name": "ada", "password": PASSWORD, "next": page}
    answer = await ada.post("/sign-in", data=fields, headers=SITE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


async def test_a_new_account_leads_there_too(start_service):
    async with start_service(sign_up="open") as service, browser(service) as http:
        shown = (await http.get("/sign-in?next=/problems/add_one")).text
        assert 'href="/sign-up?next=/problems/add_one"' in shown
        page = (await http.get("/sign-up?next=/problems/add_one")).text
        assert sign_in_link(page) == "/sign-in"
        assert 'href="/sign-in?next=/problems/add_one"' in page
        fields = {"form_token": form_token(page), "name": "ada", "password": PASSWORD, "next": "/problems/add_one"}
        answer = await http.post("/sign-up", data=fields, headers=SITE)
        assert (answer.status_code, answer.headers["location"]) == (303, "/problems/add_one")


async def test_somebody_who_is_signed_in_goes_on(service):
    await sign_in(service)
    shown = await service.http.get("/sign-in?next=/attempts", headers={"Accept": "text/html"})
    assert '<a href="/attempts">Continue</a>' in shown.text
