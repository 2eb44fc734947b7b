"""Who may create an account, the rules for names and passwords, and invitations."""

import asyncio

import pytest

from app.accounts.caller import User
from app.accounts.service import Accounts
from app.core.clock import now
from tests.app.accounts.people import PASSWORD, SITE, browser, form_token, send_form, sign_in, sign_up

pytestmark = pytest.mark.anyio
ME = "/api/v1/me"
INVITATIONS = "/api/v1/invitations"


async def test_open_sign_up_makes_a_student_who_is_signed_in(start_service):
    async with start_service(sign_up="open") as service, browser(service) as http:
        answer = await send_form(http, "/sign-up", "/sign-up", name=" Ada ", password=PASSWORD)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert (await http.get(ME)).json() | {"id": ""} == {"id": "", "name": "ada", "role": "student"}


async def test_without_an_invitation_nobody_signs_up_by_default(service):
    async with browser(service) as http:
        assert (await http.get("/sign-up")).status_code == 403
        answer = await send_form(http, "/sign-in", "/sign-in", name="x", password="y")
        assert answer.status_code == 401
        token = form_token(answer.text)
        fields = {"form_token": token, "name": "ada", "password": PASSWORD}
        refused = await http.post("/sign-up", data=fields, headers=SITE)
        assert refused.status_code == 403
        assert "need an invitation" in refused.text


async def test_open_sign_up_is_slowed_for_one_address_and_not_for_who_is_invited(start_service):
    async with start_service(sign_up="open", sign_ups_per_address=2) as service:
        for name in ("ada", "owner"):  # the second name is taken, and the try still counts
            async with browser(service) as http:
                await send_form(http, "/sign-up", "/sign-up", name=name, password=PASSWORD)
        async with browser(service) as http:
            answer = await send_form(http, "/sign-up", "/sign-up", name="eve", password=PASSWORD)
            assert answer.status_code == 429
            assert 0 < int(answer.headers["retry-after"]) <= 3600
            assert "ask an instructor for an invitation" in answer.text
            assert "meshgrade_session" not in http.cookies
            await sign_up(service, http, "grace")
        async with browser(service, client=("198.51.100.7", 1)) as http:
            answer = await send_form(http, "/sign-up", "/sign-up", name="bob", password=PASSWORD)
            assert answer.status_code == 303


async def test_closed_means_closed_to_the_invited_as_well(start_service):
    async with start_service(sign_up="closed") as service, browser(service) as http:
        made = await service.http.post(INVITATIONS, json={}, headers=service.bearer)
        answer = await http.get(made.json()["url"])
        assert answer.status_code == 403
        assert "does not accept new accounts" in answer.text


async def test_an_invitation_works_once_and_gives_its_role(service):
    await sign_in(service)
    made = await service.http.post(INVITATIONS, json={"role": "instructor", "note": "Grace"}, headers=SITE)
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    url = made.json()["url"]
    invitation = url.partition("invitation=")[2]
    listed = (await service.http.get(INVITATIONS, headers=service.bearer)).json()
    assert [each["note"] for each in listed["invitations"]] == ["Grace"]
    assert invitation not in str(listed)
    async with browser(service) as http:
        fields = {"name": "grace", "password": PASSWORD, "invitation": invitation}
        assert (await send_form(http, url, "/sign-up", **fields)).status_code == 303
        assert (await http.get(ME)).json()["role"] == "instructor"
        assert (await http.get(url)).status_code == 403
    assert (await service.http.get(INVITATIONS, headers=service.bearer)).json() == {"invitations": []}


async def test_of_two_who_use_an_invitation_at_once_one_is_refused(service):
    accounts = service.services[Accounts]
    invitation, _ = await accounts.invitations.create(await accounts.ensure_owner(), "student", "", 7)
    answers = await asyncio.gather(
        *(accounts.sign_up(name, PASSWORD, invitation, "", "") for name in ("ada", "bob")), return_exceptions=True
    )
    assert sorted(type(answer).__name__ for answer in answers) == ["InvitationInvalid", "str"]


async def test_a_name_that_is_taken_leaves_the_invitation_usable(service):
    accounts = service.services[Accounts]
    invitation, _ = await accounts.invitations.create(await accounts.ensure_owner(), "student", "", 7)
    page = f"/sign-up?invitation={invitation}"
    async with browser(service) as http:
        fields = {"password": PASSWORD, "invitation": invitation}
        refused = await send_form(http, page, "/sign-up", name="Owner", **fields)
        assert refused.status_code == 409
        assert 'value="Owner"' in refused.text
        assert PASSWORD not in refused.text
        assert (await send_form(http, page, "/sign-up", name="other", **fields)).status_code == 303


@pytest.mark.parametrize("name", ["", "a", "a" * 40, "-ada", "a da", "ad\u00e4", "a\0da", "<b>ada", "\u0430da"])
async def test_a_name_that_cannot_be_used_is_refused(start_service, name):
    async with start_service(sign_up="open") as service, browser(service) as http:
        answer = await send_form(http, "/sign-up", "/sign-up", name=name, password=PASSWORD)
        assert answer.status_code == 422
        assert "name-invalid" not in answer.text  # the page says it in words
        assert "A name has 2 to 39 characters" in answer.text


@pytest.mark.parametrize("password", ["", "nine char", "x" * 201, "aaaaaaaaaaaa", "ada-lovelace1"])
async def test_a_password_that_would_be_guessed_is_refused(start_service, password):
    async with start_service(sign_up="open") as service, browser(service) as http:
        answer = await send_form(http, "/sign-up", "/sign-up", name="ada-lovelace", password=password)
        assert answer.status_code == 422
        assert "The password" in answer.text


async def test_an_expired_or_revoked_invitation_does_not_work(service, monkeypatch):
    async with browser(service) as http:
        made = (await service.http.post(INVITATIONS, json={}, headers=service.bearer)).json()
        gone = await service.http.delete(f"{INVITATIONS}/{made['id']}", headers=service.bearer)
        assert gone.status_code == 204
        assert (await http.get(made["url"])).status_code == 403
        late = (await service.http.post(INVITATIONS, json={"expires_in_days": 1}, headers=service.bearer)).json()
        assert (await http.get(late["url"])).status_code == 200
        monkeypatch.setattr("app.accounts.invitations.now", lambda: now().replace(year=now().year + 1))
        assert (await http.get(late["url"])).status_code == 403


async def test_nobody_invites_above_their_own_role(service):
    async with browser(service) as http:
        await sign_up(service, http, "grace", "instructor")
        page = (await http.get("/account/invitations")).text
        assert "<option>owner</option>" not in page
        answer = await send_form(http, "/account/invitations", "/account/invitations", role="owner")
        assert answer.status_code == 403
        assert "you cannot invite someone as" in answer.text
        made = await send_form(http, "/account/invitations", "/account/invitations", role="instructor")
        assert (made.status_code, made.headers["cache-control"]) == (200, "no-store")
        assert "http://meshgrade.test/sign-up?invitation=" in made.text


async def test_a_student_invites_nobody(service):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        assert "/account/invitations" not in (await http.get("/account")).text
        assert (await http.get("/account/invitations")).status_code == 403
        refused = await http.post(INVITATIONS, json={}, headers=SITE | {"Accept": "*/*"})
        assert (refused.status_code, refused.json()["slug"]) == (403, "role-missing")


@pytest.mark.parametrize(
    ("body", "slug"),
    [
        ({"role": "admin"}, "field-invalid"),
        ({"note": "x" * 101}, "field-invalid"),
        ({"note": "a\0b"}, "field-invalid"),
        ({"expires_in_days": 0}, "field-invalid"),
        ({"expires_in_days": "7"}, "field-invalid"),
        ({"uses": 2}, "field-unknown"),
    ],
)
async def test_a_wrong_invitation_is_refused(service, body, slug):
    answer = await service.http.post(INVITATIONS, json=body, headers=service.bearer)
    assert (answer.status_code, answer.json()["slug"]) == (422, slug)


async def test_the_pages_list_and_revoke_invitations(service):
    await sign_in(service)
    here = "/account/invitations"
    made = await send_form(service.http, here, here, role="student", expires_in_days="1", note="<b>Ada</b>")
    assert "&lt;b&gt;Ada&lt;/b&gt;" in made.text
    owner: User = await service.services[Accounts].ensure_owner()
    [view] = await service.services[Accounts].invitations.list(owner.id)
    answer = await send_form(service.http, here, f"{here}/{view.id}/revoke")
    assert (answer.status_code, answer.headers["location"]) == (303, here)
    assert await service.services[Accounts].invitations.list(owner.id) == []
