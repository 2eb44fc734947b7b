"""A platform registers itself by a link that an owner made."""

import html
import re
import time

import pytest

from tests.app.accounts.people import SITE, browser, form_token, sign_up
from tests.app.teaching.lti.platform import DEPLOYMENT
from tests.app.teaching.lti.platform import SITE as HERE
from tests.app.teaching.lti.test_launch import confirm

pytestmark = pytest.mark.anyio
LINKS = "/api/v1/lti/platforms/links"
TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"


@pytest.fixture
async def unknown(school, platform):
    """The service, which does not know the platform yet."""
    [known] = (await school.http.get("/api/v1/lti/platforms")).json()["platforms"]
    assert (await school.http.delete(f"/api/v1/lti/platforms/{known['id']}", headers=SITE)).status_code == 204
    return school


async def new_link(school, **fields) -> str:
    """The path of a new link."""
    answer = await school.http.post(LINKS, json={"name": "Moodle"} | fields, headers=SITE)
    assert answer.status_code == 201, answer.text
    assert answer.json()["url"].startswith(f"{HERE}/lti/register/")
    return answer.json()["url"].removeprefix(HERE)


def opened(platform, **changes: str) -> dict[str, str]:
    """What the platform adds to the link."""
    where = f"{platform.address}/.well-known/openid-configuration"
    return {"openid_configuration": where, "registration_token": "secret-of-the-platform"} | changes


async def send(http, link: str, fields: dict[str, str]):
    # A browser in a frame of the platform: no cookie, no form token, another origin.
    return await http.post(link, data=fields, headers={"Origin": "https://elsewhere.example"})


async def test_a_platform_registers_itself_once(unknown, platform):
    link = await new_link(unknown, grants_instructor=True)
    async with browser(unknown) as http:
        page = await http.get(link, params=opened(platform))
        assert page.status_code == 200
        assert "frame-ancestors http: https:" in page.headers["content-security-policy"]
        assert page.headers["cross-origin-opener-policy"] == "unsafe-none"
        assert (page.headers["cache-control"], page.headers["referrer-policy"]) == ("no-store", "no-referrer")
        assert platform.registered == []
        fields = {
            name: html.unescape(value)
            for name, value in re.findall(r'name="(openid_\w+|registration_\w+)" value="([^"]*)"', page.text)
        }
        assert fields == opened(platform)
        done = await send(http, link, fields)
        assert (done.status_code, "Moodle is registered" in done.text) == (200, True), done.text
        assert "registered.js" in done.text
        assert "script-src 'self'" in done.headers["content-security-policy"]
        assert done.headers["cross-origin-opener-policy"] == "unsafe-none"
        [(token, asked)] = platform.registered
        assert token == "Bearer secret-of-the-platform"
        assert (asked["initiate_login_uri"], asked["redirect_uris"]) == (f"{HERE}/lti/login", [f"{HERE}/lti/launch"])
        assert (asked["jwks_uri"], asked["client_name"]) == (f"{HERE}/lti/jwks.json", "Meshgrade")
        assert (asked["application_type"], asked["response_types"]) == ("web", ["id_token"])
        assert asked["token_endpoint_auth_method"] == "private_key_jwt"
        assert asked["scope"] == "https://purl.imsglobal.org/spec/lti-ags/scope/score"  # the only one on offer
        tool = asked[TOOL]
        assert tool["domain"] == "meshgrade.test"
        assert [each["type"] for each in tool["messages"]] == ["LtiResourceLinkRequest", "LtiDeepLinkingRequest"]
        assert {"name", "email", "given_name", "family_name"} < set(tool["claims"])
        again = await send(http, link, fields)
        assert (again.status_code, "already used" in again.text) == (403, True)
    [known] = (await unknown.http.get("/api/v1/lti/platforms")).json()["platforms"]
    assert (known["name"], known["client_id"], known["deployments"]) == ("Moodle", "client-9", [DEPLOYMENT])
    assert (known["issuer"], known["grants_instructor"]) == (platform.address, True)
    async with browser(unknown) as http:
        asked = await platform.begin(http, client_id="client-9")
        token = platform.sign(platform.claims(asked["nonce"], aud="client-9"))
        page = await platform.send(http, token, asked["state"])
        assert (await confirm(http, page.text)).headers["location"] == "/problems/add_one"
    assert (await unknown.http.delete(f"/api/v1/lti/platforms/{known['id']}", headers=SITE)).status_code == 204
    async with browser(unknown) as http:
        assert "already used" in (await http.get(link, params=opened(platform))).text
    audit = (await unknown.http.get("/api/v1/audit")).json()["entries"]
    details = {each["action"]: each["detail"] for each in audit}
    assert details["lti-link-created"] == details["lti-platform-registered"] == f"Moodle ({known['id']})"


async def test_a_platform_that_names_no_deployment_is_stored_without(unknown, platform):
    platform.deployment = None
    link = await new_link(unknown)
    async with browser(unknown) as http:
        done = await send(http, link, opened(platform))
        assert "did not say under which deployment id" in done.text
    [known] = (await unknown.http.get("/api/v1/lti/platforms")).json()["platforms"]
    assert known["deployments"] == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"issuer": "https://evil.example"}, "its issuer is"),
        ({"registration_endpoint": "http://evil.example/register"}, "its registration_endpoint is"),
        ({"issuer": None}, "has no issuer"),
        ({"token_endpoint": None}, "has no token_endpoint"),
        ({"jwks_uri": "ftp://x"}, "keys_url: The address must be"),
        ({"https://purl.imsglobal.org/spec/lti-platform-configuration": None}, "LtiResourceLinkRequest"),
        ({"registration_endpoint": None}, "has no registration_endpoint"),
    ],
    ids=["issuer", "endpoint", "no-issuer", "no-token", "keys", "no-messages", "no-endpoint"],
)
async def test_a_configuration_that_contradicts_itself_registers_nothing(unknown, platform, changes, words):
    link = await new_link(unknown)
    platform.configuration_changes = changes
    async with browser(unknown) as http:
        refused = await send(http, link, opened(platform))
        assert (refused.status_code in (403, 422), words in refused.text) == (True, True), refused.text
    assert platform.registered == []
    assert (await unknown.http.get("/api/v1/lti/platforms")).json()["platforms"] == []


async def test_a_link_can_be_tried_again_after_a_failure(unknown, platform):
    link = await new_link(unknown)
    async with browser(unknown) as http:
        platform.refusals = [500]
        failed = await send(http, link, opened(platform))
        assert (failed.status_code, "did not send a registration: HTTP 500" in failed.text) == (502, True)
        nothing = await send(http, link, opened(platform, openid_configuration=f"{platform.address}/nothing"))
        assert (nothing.status_code, "HTTP 404" in nothing.text) == (502, True)
        bad = await send(http, link, opened(platform, registration_token="two\nlines"))
        assert (bad.status_code, "its token is not one line" in bad.text) == (502, True)
        assert (await send(http, link, opened(platform))).status_code == 200


async def test_an_issuer_with_other_keys_is_not_taken_over(school, platform):
    """Before the platform is asked to register anything."""
    platform.configuration_changes = {"jwks_uri": f"{platform.address}/others"}
    link = await new_link(school)
    async with browser(school) as http:
        refused = await send(http, link, opened(platform))
        assert (refused.status_code, "another keys_url" in refused.text) == (409, True)
    assert platform.registered == []


async def test_links_are_made_by_owners_who_are_there_and_expire(school, platform, monkeypatch):
    token = await school.http.post(LINKS, json={"name": "Moodle"}, headers=school.bearer)
    assert token.json()["slug"] == "session-needed"
    async with browser(school) as http:
        await sign_up(school, http, "ivy", "instructor")
        assert (await http.post(LINKS, json={"name": "Moodle"}, headers=SITE)).status_code == 403
    link = await new_link(school)
    async with browser(school) as http:
        for wrong in (f"{link}x", "/lti/register/x", "/lti/register/a.b", link[:20] + "x" + link[21:]):
            answer = await http.get(wrong, params=opened(platform))
            assert (answer.status_code, "not a registration link" in answer.text) == (403, True)
        later = time.time() + 24 * 3600 + 1
        monkeypatch.setattr("app.teaching.lti.registration_links.time.time", lambda: later)
        assert "has expired" in (await send(http, link, opened(platform))).text


async def test_a_link_dies_with_the_owners_role(school, platform):
    async with browser(school) as http:
        await sign_up(school, http, "olga", "owner")
        made = await http.post(LINKS, json={"name": "Moodle"}, headers=SITE)
        me = (await http.get("/api/v1/me")).json()["id"]
        changed = await school.http.put(f"/api/v1/people/{me}/role", json={"role": "student"}, headers=SITE)
        assert changed.status_code == 200, changed.text
        answer = await send(http, made.json()["url"].removeprefix(HERE), opened(platform))
        assert (answer.status_code, "no longer an owner" in answer.text) == (403, True)


async def test_a_form_makes_a_link_that_is_shown_once(school, platform):
    page = (await school.http.get("/lti/platforms", headers={"Accept": "text/html"})).text
    fields = {"form_token": form_token(page), "name": "Moodle"}
    long = await school.http.post("/lti/platforms/links", data=fields | {"name": "x" * 101}, headers=SITE)
    assert (long.status_code, f'name="name" type="text" value="{"x" * 101}"' in long.text) == (422, True)
    made = await school.http.post("/lti/platforms/links", data=fields, headers=SITE)
    assert (made.status_code, f"{HERE}/lti/register/" in made.text) == (200, True)
    async with browser(school) as http:
        link = re.search(rf'value="{HERE}(/lti/register/[^"]+)"', made.text)[1]
        assert "Do not open it yourself" in (await http.get(link)).text


async def test_without_the_setting_a_registration_stays_on_the_internet(start_service, platform):
    async with start_service() as service:
        from tests.app.accounts.people import sign_in

        await sign_in(service)
        link = await new_link(service)
        async with browser(service) as http:
            refused = await send(http, link, opened(platform))
            assert (refused.status_code, "openid_configuration: The address" in refused.text) == (422, True)
            private = opened(platform, openid_configuration="https://localhost.localdomain/configuration")
            refused = await send(http, link, private)
            assert refused.status_code == 502
