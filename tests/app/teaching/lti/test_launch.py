"""A launch from a platform: who is signed in, where it leads, and which messages are refused."""

import base64
import hmac
import json
import re
import time
from datetime import timedelta

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from app.core.clock import now
from tests.app.accounts.people import SITE, browser, form_token, sign_up
from tests.app.teaching.lti.platform import CLIENT_ID, DEPLOYMENT, ENDPOINT, LTI, ROLE

pytestmark = pytest.mark.anyio
ME = "/api/v1/me"


async def confirm(http, page, **fields: str):
    """Send the form of the page that asks."""
    ticket = re.search(r'name="ticket" value="([^"]+)"', page)[1]
    data = {"form_token": form_token(page), "ticket": ticket} | fields
    return await http.post("/lti/continue", data=data, headers=SITE)


async def first_launch(school, platform, http, claims=None):
    page = await platform.launch(http, claims=claims)
    assert page.status_code == 200, page.text
    return await confirm(http, page.text, choice="enter")


async def test_somebody_new_confirms_once_and_is_then_signed_in_at_once(school, platform):
    async with browser(school) as http:
        answer = await first_launch(school, platform, http)
        assert (answer.status_code, answer.headers["location"]) == (303, "/problems/add_one")
        me = (await http.get(ME)).json()
        assert (me["name"], me["role"]) == ("ada-lovelace", "student")
        again = await platform.launch(http)
        assert (again.status_code, again.headers["location"]) == (303, "/problems/add_one")
    async with browser(school) as http:
        answer = await platform.launch(http)
        assert (answer.status_code, answer.headers["location"]) == (303, "/problems/add_one")
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert (await http.get(ME)).json()["id"] == me["id"]
        exported = (await http.get("/api/v1/me/export")).json()
        assert exported["users"][0]["in_rankings"] is False
        assert len(exported["lti_scores"]) == 1


async def test_in_a_frame_it_leads_to_a_new_tab_that_asks_first(school, platform):
    async with browser(school) as http:
        await first_launch(school, platform, http)
    async with browser(school) as frame, browser(school) as tab:
        page = await platform.launch(frame, in_frame=True)
        assert page.status_code == 200
        assert "frame-ancestors http: https:" in page.headers["content-security-policy"]
        assert "meshgrade_session" not in frame.cookies
        address = re.search(r'href="(/lti/continue\?ticket=[^"]+)" target="_blank" rel="noopener', page.text)[1]
        asked = await tab.get(address)
        assert "frame-ancestors 'none'" in asked.headers["content-security-policy"]
        assert "Continue as ada-lovelace" in asked.text
        assert (await tab.get(ME)).status_code == 401
        foreign = {"Origin": platform.address, "Sec-Fetch-Site": "cross-site"}
        ticket = address.partition("=")[2]
        assert (await tab.post("/lti/continue", data={"ticket": ticket}, headers=foreign)).status_code == 403
        assert (await confirm(tab, asked.text)).headers["location"] == "/problems/add_one"
        assert (await tab.get(ME)).json()["name"] == "ada-lovelace"
        assert (await tab.get(address)).status_code == 404


async def test_another_account_is_connected_only_if_its_user_says_so(school, platform):
    async with browser(school) as http:
        await sign_up(school, http, "ada")
        page = (await platform.launch(http)).text
        assert "Connect my account ada" in page
        assert (await confirm(http, page, choice="link")).headers["location"] == "/problems/add_one"
        assert (await http.get(ME)).json()["name"] == "ada"
    async with browser(school) as http:
        assert (await platform.launch(http)).status_code == 303
        assert (await http.get(ME)).json()["name"] == "ada"
    async with browser(school) as http:
        await sign_up(school, http, "bob")
        page = (await platform.launch(http)).text
        assert "<strong>bob</strong> is signed in, and would be signed out" in page
        refused = await confirm(http, page, choice="link")
        assert (refused.status_code, "An owner can merge the two" in refused.text) == (409, True)


async def test_a_session_that_is_old_confirms_before_it_connects(school, platform, monkeypatch):
    async with browser(school) as http:
        await sign_up(school, http, "ada")
        page = (await platform.launch(http)).text
        monkeypatch.setattr("app.accounts.recent_sign_in.now", lambda: now() + timedelta(hours=1))
        answer = await confirm(http, page, choice="link")
        assert answer.headers["location"].startswith("/sign-in/again?next=%2Flti%2Fcontinue%3Fticket%3D")


async def test_an_equal_address_merges_nobody(school, platform):
    """The token's e-mail address and name are those of other accounts."""
    async with browser(school) as ada, browser(school) as http:
        await sign_up(school, ada, "ada-lovelace")
        await first_launch(school, platform, http)
        me = (await http.get(ME)).json()
        assert me["name"] != "ada-lovelace"
        assert me["name"].startswith("ada-lovelace-")


async def test_a_teacher_becomes_an_instructor_only_where_the_owner_allows_it(school, platform):
    teacher = {"sub": "teacher-1", "name": "Tess", f"{LTI}roles": [f"{ROLE}Instructor"]}
    async with browser(school) as http:
        await first_launch(school, platform, http, teacher)
        assert (await http.get(ME)).json()["role"] == "student"
    other = platform.registration | {"client_id": "client-2", "grants_instructor": True}
    assert (await school.http.post("/api/v1/lti/platforms", json=other, headers=SITE)).status_code == 201
    async with browser(school) as http:
        asked = await platform.begin(http, client_id="client-2")
        changes = teacher | {"sub": "teacher-2", "aud": ["client-2"], "azp": "client-2"}
        page = await platform.send(http, platform.sign(platform.claims(asked["nonce"], **changes)), asked["state"])
        await confirm(http, page.text)
        assert (await http.get(ME)).json()["role"] == "instructor"
    async with browser(school) as http:
        institution = {
            "sub": "s-3",
            f"{LTI}roles": ["http://purl.imsglobal.org/vocab/lis/v2/institution/person#Instructor"],
        }
        await first_launch(school, platform, http, institution)
        assert (await http.get(ME)).json()["role"] == "student"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"iss": "https://evil.example"}, "iss"),
        ({"aud": "another-client"}, "aud"),
        ({"aud": [CLIENT_ID, "another"]}, "azp"),
        ({"azp": "another"}, "azp"),
        ({"exp": 1_000_000_000}, "expired"),
        ({"exp": None}, "exp"),
        ({"nonce": "another"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({f"{LTI}version": "1.1"}, "version"),
        ({f"{LTI}message_type": "DataPrivacyLaunchRequest"}, "message type"),
        ({f"{LTI}message_type": "LtiSubmissionReviewRequest"}, "whose submission"),
        (
            {f"{LTI}message_type": "LtiSubmissionReviewRequest", f"{LTI}for_user": {"user_id": "1"}, ENDPOINT: None},
            "names no column",
        ),
        ({f"{LTI}deployment_id": "deployment-2"}, "is not registered"),
        ({f"{LTI}deployment_id": None}, "names no deployment"),
        ({"sub": None}, "names no user"),
        ({"sub": 7}, "sub"),
        ({f"{LTI}resource_link": None}, "names no resource link"),
        ({f"{LTI}roles": None}, "no list of roles"),
        ({f"{LTI}roles": f"{ROLE}Learner"}, "no list of roles"),
        ({f"{LTI}target_link_uri": None}, "names no address to open"),
        ({f"{LTI}target_link_uri": 7}, "names no address to open"),
        ({f"{LTI}target_link_uri": "https://evil.example/problems/add_one"}, "not on this site"),
        ({f"{LTI}target_link_uri": "http://meshgrade.test.evil.example/problems/add_one"}, "not on this site"),
        ({f"{LTI}target_link_uri": "http://meshgrade.test@evil.example/"}, "not on this site"),
        ({f"{LTI}target_link_uri": "https://meshgrade.test/problems/add_one"}, "not on this site"),
        ({f"{LTI}target_link_uri": "/problems/add_one"}, "not on this site"),
        ({f"{LTI}message_type": "LtiDeepLinkingRequest"}, "return a selection"),
    ],
    ids=lambda each: str(each).replace(LTI, "").replace(ROLE, "")[:80],
)
async def test_a_message_that_is_wrong_signs_nobody_in(school, platform, changes, words):
    async with browser(school) as http:
        answer = await platform.launch(http, claims=changes)
        assert (answer.status_code, words in answer.text) == (403, True), answer.text
        assert "meshgrade_session" not in http.cookies


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def by_hand(claims: dict, algorithm: str, secret: bytes | None = None) -> str:
    """A token as no library writes it: unsigned, or signed with a secret that everyone can read."""
    head = {"alg": algorithm, "typ": "JWT", "kid": "platform-key"}
    text = ".".join(encoded(json.dumps(each).encode()) for each in (head, claims))
    return f"{text}.{encoded(hmac.digest(secret, text.encode(), 'sha256')) if secret else ''}"


async def test_a_message_that_the_platform_did_not_sign_signs_nobody_in(school, platform):
    public = platform.key.as_pem(private=False)
    rs = {"alg": "RS256", "kid": "platform-key"}
    unknown = RSAKey.generate_key(2048, {"kid": "elsewhere"})
    for forge in (
        lambda claims: by_hand(claims, "none"),
        lambda claims: by_hand(claims, "HS256", public),
        lambda claims: jwt.encode(rs, claims, platform.forger),
        lambda claims: jwt.encode({"alg": "RS256", "kid": "elsewhere"}, claims, unknown),
        lambda claims: platform.sign(claims)[:-4] + "AAAA",
        lambda claims: "no.token",
        lambda claims: "",
    ):
        async with browser(school) as http:
            asked = await platform.begin(http)
            answer = await platform.send(http, forge(platform.claims(asked["nonce"])), asked["state"])
            assert (answer.status_code, "was not accepted" in answer.text) == (403, True), answer.text
            assert "meshgrade_session" not in http.cookies
    assert platform.key_reads <= 2  # unknown keys do not make us ask again and again


@pytest.mark.parametrize("head", [{"alg": "RS256"}, {"alg": "RS256", "kid": ""}, {"alg": "RS256", "kid": 7}], ids=str)
async def test_a_message_that_names_no_key_signs_nobody_in(school, platform, head):
    async with browser(school) as http:
        asked = await platform.begin(http)
        claims = platform.claims(asked["nonce"])
        token = jwt.encode({"alg": "RS256"}, claims, platform.key)
        token = f"{encoded(json.dumps(head).encode())}.{token.partition('.')[2]}"
        answer = await platform.send(http, token, asked["state"])
        assert (answer.status_code, "names no key (kid)" in answer.text) == (403, True), answer.text
        assert platform.key_reads == 0


async def test_a_request_for_a_selection_need_not_say_where_it_leads(school, platform):
    async with browser(school) as http:
        claims = platform.selection(**{f"{LTI}target_link_uri": None})
        assert (await platform.launch(http, claims=claims)).status_code == 200
        elsewhere = platform.selection(**{f"{LTI}target_link_uri": "https://evil.example/"})
        assert "not on this site" in (await platform.launch(http, claims=elsewhere)).text


async def test_a_message_counts_once(school, platform):
    async with browser(school) as http:
        asked = await platform.begin(http)
        token = platform.sign(platform.claims(asked["nonce"]))
        assert (await platform.send(http, token, asked["state"])).status_code == 200
        again = await platform.send(http, token, asked["state"])
        assert (again.status_code, "already used" in again.text) == (403, True)


async def test_a_state_that_is_not_ours_or_is_old_signs_nobody_in(school, platform, monkeypatch):
    async with browser(school) as http:
        asked = await platform.begin(http)
        token = platform.sign(platform.claims(asked["nonce"]))
        other = (await platform.begin(http))["state"]
        for state in ("", "x", "a.b.c.d.e", asked["state"][:-1] + "é", other):
            assert (await platform.send(http, token, state)).status_code == 403
        later = time.time() + 601
        monkeypatch.setattr("app.teaching.lti.login_state.time.time", lambda: later)
        answer = await platform.send(http, token, asked["state"])
        assert (answer.status_code, "has expired" in answer.text) == (403, True)


async def test_a_platform_that_nobody_registered_begins_nothing(school, platform):
    async with browser(school) as http:
        for changes in ({"iss": "https://evil.example"}, {"client_id": "another"}, {"login_hint": ""}, {"iss": "a\0"}):
            fields = {"iss": platform.address, "client_id": CLIENT_ID, "login_hint": "x"} | changes
            foreign = {"Sec-Fetch-Site": "cross-site", "Origin": "https://canvas.example"}
            assert (await http.post("/lti/login", data=fields, headers=foreign)).status_code == 403
        assert (await http.post("/lti/login", data={"iss": platform.address, "login_hint": "x"})).status_code == 302


async def test_only_pages_of_this_site_are_targets(school, platform):
    for number, (target, page) in enumerate(
        (
            ("http://meshgrade.test", "/problems"),
            ("http://meshgrade.test//evil.example", "/problems"),
            ("http://meshgrade.test/problems/no_such", "/problems"),
            ("http://meshgrade.test/account/delete", "/problems"),
        )
    ):
        async with browser(school) as http:
            claims = {f"{LTI}target_link_uri": target, "sub": f"s{number}"}
            assert (await first_launch(school, platform, http, claims)).headers["location"] == page


async def test_platforms_are_registered_by_owners_who_are_there(school, platform):
    body = platform.registration | {"issuer": "https://other.example"}
    path = "/api/v1/lti/platforms"
    token = await school.http.post(path, json=body, headers=school.bearer)
    assert token.json()["slug"] == "session-needed"
    same = await school.http.post(path, json=platform.registration, headers=SITE)
    assert (same.status_code, same.json()["slug"]) == (409, "platform-taken")
    keys = platform.registration | {"client_id": "x", "keys_url": "http://127.0.0.1:1/jwks"}
    refused = await school.http.post(path, json=keys, headers=SITE)
    assert "another keys_url" in refused.json()["detail"]
    [known] = (await school.http.get(path, headers=school.bearer)).json()["platforms"]
    where = f"{path}/{known['id']}"
    changed = await school.http.put(f"{where}/deployments", json={"deployments": ["d", "e"]}, headers=SITE)
    assert changed.json()["deployments"] == ["d", "e"]
    async with browser(school) as http:
        assert "is not registered" in (await platform.launch(http)).text
    assert (await school.http.delete(where, headers=SITE)).status_code == 204
    assert (await school.http.delete(where, headers=SITE)).status_code == 404
    actions = [
        each["action"] for each in (await school.http.get("/api/v1/audit", headers=school.bearer)).json()["entries"]
    ]
    assert actions == ["lti-platform-removed", "lti-platform-changed", "lti-platform-added"]


async def test_a_form_registers_a_platform_and_comes_back_with_what_is_wrong(school, platform):
    page = (await school.http.get("/lti/platforms", headers={"Accept": "text/html"})).text
    assert f"{SITE['Origin']}/lti/launch" in page
    fields = {name: value for name, value in platform.registration.items() if isinstance(value, str)}
    fields |= {"form_token": form_token(page), "deployments": DEPLOYMENT}
    send = school.http.post
    wrong = await send("/lti/platforms", data=fields | {"client_id": "2", "token_url": "ftp://x"}, headers=SITE)
    assert (wrong.status_code, "token_url: The address must be" in wrong.text) == (422, True)
    assert f'value="{platform.address}"' in wrong.text
    done = await send("/lti/platforms", data=fields | {"client_id": "2", "name": "Moodle"}, headers=SITE)
    assert done.status_code == 303
    page = (await school.http.get("/lti/platforms", headers={"Accept": "text/html"})).text
    assert "Moodle" in page


async def test_without_the_setting_a_platform_must_be_on_the_internet(start_service, platform):
    async with start_service() as service:
        from tests.app.accounts.people import sign_in

        await sign_in(service)
        answer = await service.http.post("/api/v1/lti/platforms", json=platform.registration, headers=SITE)
        assert (answer.status_code, "issuer: The address must be https://" in answer.json()["detail"]) == (422, True)
