"""Links, cookies, tokens and where a request may come from."""

import pytest

from app.accounts.models import UserRow
from app.accounts.service import Accounts
from app.core.database import Database
from tests.app.accounts.people import PASSWORD, SITE, browser, form_token, send_form, sign_in

pytestmark = pytest.mark.anyio
ME = "/api/v1/me"
RUNS = "/api/v1/problems/add_one/runs"


async def test_a_link_works_once(service):
    accounts = service.services[Accounts]
    link = await accounts.new_sign_in_link(await accounts.ensure_owner())
    first = await service.http.get("/sign-in", params={"token": link})
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie
    assert (await service.http.get(ME)).json()["role"] == "owner"
    second = await service.http.get("/sign-in", params={"token": link})
    assert (second.status_code, second.json()["slug"]) == (403, "sign-in-link-invalid")


async def test_only_a_browser_on_the_server_itself_reads_about_its_terminal(service):
    for host, shown in (("127.0.0.1:8000", True), ("localhost", True), ("[::1]:8000", True), ("meshgrade.test", False)):
        page = (await service.http.get(f"http://{host}/sign-in")).text
        assert ("stop the server" in page) is shown
        assert "API token" not in page


async def test_the_link_that_one_server_printed_survives_the_start_of_another(service):
    """As in Kubernetes, where two start at once. Each link works once."""
    accounts = service.services[Accounts]
    links = [await accounts.new_sign_in_link(await accounts.ensure_owner()) for _ in range(2)]
    for link in links:
        assert (await service.http.get("/sign-in", params={"token": link})).status_code == 303
        assert (await service.http.get("/sign-in", params={"token": link})).status_code == 403


async def test_a_reset_ends_every_link(service):
    accounts = service.services[Accounts]
    owner = await accounts.ensure_owner()
    old = await accounts.new_sign_in_link(owner)
    async with service.services[Database].writing() as session:
        await accounts.reset_password_in(session, await session.get_one(UserRow, owner.id))
    assert (await service.http.get("/sign-in", params={"token": old})).status_code == 403


async def test_an_expired_link_does_not_work(start_service):
    async with start_service(sign_in_link_minutes=1e-9) as service:
        accounts = service.services[Accounts]
        link = await accounts.new_sign_in_link(await accounts.ensure_owner())
        assert (await service.http.get("/sign-in", params={"token": link})).status_code == 403


async def test_an_expired_session_is_no_session(start_service):
    async with start_service(session_days=1e-12) as service:
        accounts = service.services[Accounts]
        token = await accounts.sign_in(await accounts.new_sign_in_link(await accounts.ensure_owner()))
        assert await accounts.user_of_session(token) is None


async def test_the_cookie_is_secure_behind_https(start_service):
    async with start_service(public_url="https://meshgrade.test") as service:
        accounts = service.services[Accounts]
        link = await accounts.new_sign_in_link(await accounts.ensure_owner())
        assert "Secure" in (await service.http.get("/sign-in", params={"token": link})).headers["set-cookie"]


async def test_signing_out_revokes_the_session(service):
    await sign_in(service)
    cookie = service.http.cookies["meshgrade_session"]
    answer = await send_form(service.http, "/problems", "/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    service.http.cookies.set("meshgrade_session", cookie)
    assert (await service.http.get(ME)).status_code == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://meshgrade.test"}, 202),
        ({"Sec-Fetch-Site": "same-origin"}, 202),
        ({}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example"}, 403),
    ],
)
async def test_a_cookie_changes_things_only_from_this_site(service, headers, status):
    await sign_in(service)
    answer = await service.http.post(RUNS, json={"source": "x"}, headers=headers)
    assert answer.status_code == status


async def test_a_token_needs_no_origin(service):
    headers = service.bearer | {"Origin": "http://evil.example"}
    assert (await service.http.post(RUNS, json={"source": "x"}, headers=headers)).status_code == 202


@pytest.mark.parametrize("authorization", ["Bearer wrong", "Bearer", "Basic eDp5", "Bearer \xff", ""])
async def test_a_wrong_token_is_refused_even_with_a_good_cookie(service, authorization):
    await sign_in(service)
    answer = await service.http.get(ME, headers={"Authorization": authorization.encode("latin-1")})
    assert (answer.status_code, answer.json()["slug"]) == (401, "token-invalid")
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_nobody_is_told_how_to_sign_in(service):
    answer = await service.http.post(RUNS, json={"source": "x"})
    assert (answer.status_code, answer.json()["slug"]) == (401, "not-signed-in")
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_another_preset_token_ends_the_old_one(start_service):
    async with start_service():
        pass
    async with start_service(owner_token="another-preset-token") as service:
        assert (await service.http.get(ME, headers=service.bearer)).status_code == 401
        bearer = {"Authorization": "Bearer another-preset-token"}
        assert (await service.http.get(ME, headers=bearer)).json()["name"] == "owner"
    async with start_service(owner_token=None) as service:
        assert (await service.http.get(ME, headers=bearer)).status_code == 401


async def test_no_secret_is_stored_as_it_is(service, tmp_path):
    await sign_in(service)
    stored = b"".join(file.read_bytes() for file in (tmp_path / "data").glob("meshgrade.sqlite3*"))
    assert service.http.cookies["meshgrade_session"].encode() not in stored
    assert service.bearer["Authorization"].removeprefix("Bearer ").encode() not in stored


async def test_the_spaces_of_a_password_count_and_a_refused_form_shows_none(start_service):
    async with start_service(sign_up="open") as service, browser(service) as http:
        spaced = f" {PASSWORD} "
        made = await send_form(http, "/sign-up", "/sign-up", name="ada", password=spaced)
        assert made.status_code == 303
        async with browser(service) as other:
            for password, status in ((PASSWORD, 401), (spaced, 303)):
                answer = await send_form(other, "/sign-in", "/sign-in", name=" ada ", password=password)
                assert answer.status_code == status
                assert PASSWORD not in answer.text
        again = await send_form(http, "/account", "/account/password", old=PASSWORD, new="another long password ")
        assert (again.status_code, PASSWORD in again.text, "another long" in again.text) == (401, False, False)


async def test_a_browser_whose_session_is_gone_can_still_sign_out(service):
    async with browser(service) as http:
        await sign_in(service, http)
        stale = form_token((await http.get("/account")).text)
        http.cookies.clear()
        out = await http.post("/sign-out", data={"form_token": stale})
        assert (out.status_code, out.headers["location"]) == (303, "/")


@pytest.mark.parametrize("path", ["/sign-in", "/sign-up", "/sign-out", "/sign-in/with/oidc", "/theme"])
async def test_nobody_sends_a_long_form_without_an_account(service, path):
    async with browser(service) as http:
        answer = await http.post(path, data={"next": "/" * 4096}, headers=SITE)
        assert answer.status_code == 413
