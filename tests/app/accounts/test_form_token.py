"""A form of another site is refused even where the origin check would let it through."""

import pytest

from tests.app.accounts.people import PASSWORD, SITE, browser, form_token, send_form, sign_in, sign_up

pytestmark = pytest.mark.anyio


async def test_a_form_without_the_token_changes_nothing(service):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        for action in ("/sign-out", "/account/password", "/account/tokens", "/account/sessions/revoke-others"):
            for given in (
                {},
                {"form_token": ""},
                {"form_token": "0" * 128},
                {"form_token": "0"},
                {"form_token": "\u00e4"},
            ):
                answer = await http.post(action, data={"name": "x", "scopes-read": "on", **given}, headers=SITE)
                assert answer.status_code == 403
                assert "The form is out of date" in answer.text
        assert (await http.get("/api/v1/me")).json()["name"] == "ada"
        assert (await http.get("/api/v1/tokens")).json() == {"tokens": []}


async def test_the_token_of_another_browser_is_refused(service):
    async with browser(service) as mine, browser(service) as theirs:
        await sign_up(service, mine, "ada")
        await sign_up(service, theirs, "eve")
        stolen = form_token((await theirs.get("/account")).text)
        answer = await mine.post("/account/sessions/revoke-others", data={"form_token": stolen}, headers=SITE)
        assert answer.status_code == 403


async def test_the_token_alone_is_not_enough(service):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        token = form_token((await http.get("/account")).text)
        origin = {"Origin": "http://evil.example"}
        answer = await http.post("/account/sessions/revoke-others", data={"form_token": token}, headers=origin)
        assert answer.status_code == 403
        assert "origin-refused" in answer.text


@pytest.mark.parametrize("path", ["/sign-in", "/sign-up"])
async def test_nobody_is_signed_in_by_a_form_of_another_site(start_service, path):
    async with start_service(sign_up="open") as service, browser(service) as http:
        fields = {"name": "eve", "password": PASSWORD}
        assert (await http.post(path, data=fields, headers=SITE)).status_code == 403
        token = form_token((await http.get(path)).text)
        foreign = await http.post(path, data=fields | {"form_token": token}, headers={"Origin": "http://evil.example"})
        assert foreign.status_code == 403
        async with browser(service) as other:
            await other.get(path)
            assert (await other.post(path, data=fields | {"form_token": token}, headers=SITE)).status_code == 403


async def test_the_cookie_for_it_is_set_with_the_first_form_only(service):
    async with browser(service) as http:
        for path in ("/healthz", "/openapi.json", "/api/v1/problems"):
            assert "set-cookie" not in (await http.get(path)).headers
        first = await http.get("/")
        assert "HttpOnly" in first.headers["set-cookie"]
        assert "SameSite=lax" in first.headers["set-cookie"]
        assert "set-cookie" not in (await http.get("/sign-in")).headers


async def test_signing_in_draws_a_new_token(service):
    async with browser(service) as http:
        before = form_token((await http.get("/sign-in")).text)
        await sign_in(service, http)
        answer = await http.post("/theme", data={"form_token": before, "theme": "dark"}, headers=SITE)
        assert answer.status_code == 403


async def test_code_survives_a_form_that_is_out_of_date(service):
    page = "/problems/add_one"
    async with browser(service) as http:
        stale = form_token((await http.get(page)).text)
        await sign_in(service, http)  # in another tab
        fields = {"source": "def mine(): ...", "action": "run"}
        refused = await http.post(page, data=fields | {"form_token": stale}, headers=SITE)
        assert refused.status_code == 403
        assert "def mine(): ..." in refused.text
        again = await http.post(page, data=fields | {"form_token": form_token(refused.text)}, headers=SITE)
        assert again.status_code == 303


async def test_every_form_of_every_template_has_it():
    from app.core.web.templating import ENVIRONMENT

    forms = 0
    for name in ENVIRONMENT.list_templates():
        for form in ENVIRONMENT.loader.get_source(ENVIRONMENT, name)[0].split("<form")[1:]:
            if 'method="post"' in form.partition(">")[0]:
                # The one form that leads to another site must not contain it. And the one that a platform shows in a
                # frame, where browsers send no cookies, is for anyone with the link in its address.
                other = ('action="{{ selection.return_url }}"', 'action="/lti/register/{{ token }}"')
                without = any(each in form for each in other)
                assert ("{{ form_token() }}" in form.partition("</form>")[0]) != without, name
                forms += 1
    assert forms > 5


async def test_a_program_with_a_bearer_token_needs_none(service):
    fields = {"source": "x", "action": "run"}
    assert (await service.http.post("/problems/add_one", data=fields, headers=service.bearer)).status_code == 303


async def test_pages_that_take_or_show_secrets_are_kept_by_no_cache(service):
    async with browser(service) as http:
        assert (await http.get("/sign-in")).headers["cache-control"] == "no-store"
        await sign_up(service, http, "grace", "instructor")
        for path in ("/account", "/account/tokens", "/account/invitations"):
            answer = await http.get(path)
            assert answer.status_code == 200
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        out = await send_form(http, "/account", "/sign-out")
        assert out.headers["clear-site-data"] == '"cache"'
