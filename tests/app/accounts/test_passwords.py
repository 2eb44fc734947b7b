"""Signing in by name and password, and changing the password."""

import pytest
from pwdlib import PasswordHash

from app.accounts.passwords import Passwords
from tests.app.accounts.people import PASSWORD, browser, form_token, send_form, sign_in, sign_up
from tests.app.conftest import ARGON2

pytestmark = pytest.mark.anyio
ME = "/api/v1/me"
NEW = "another long password"


async def test_a_name_and_a_password_sign_in_and_only_a_hash_is_stored(service, tmp_path):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
    async with browser(service) as http:
        assert (await send_form(http, "/sign-in", "/sign-in", name="ADA", password=PASSWORD)).status_code == 303
        assert (await http.get(ME)).json()["name"] == "ada"
    stored = b"".join(file.read_bytes() for file in (tmp_path / "data").glob("meshgrade.sqlite3*"))
    assert b"$argon2id$" in stored
    assert PASSWORD.encode() not in stored


async def test_a_hash_costs_what_is_recommended(monkeypatch):
    """64 MiB, three times: tests/app/conftest.py makes it cheap for all others."""
    monkeypatch.setattr(PasswordHash, "recommended", ARGON2)
    assert (await Passwords().hash(PASSWORD)).startswith("$argon2id$v=19$m=65536,t=3,p=4$")


async def test_a_wrong_name_and_a_wrong_password_look_the_same_and_cost_the_same(service, monkeypatch):
    compared: list[str] = []
    verify = Passwords.verify

    async def count(self: Passwords, password: str, stored: str | None) -> bool:
        compared.append(password)
        return await verify(self, password, stored)

    monkeypatch.setattr(Passwords, "verify", count)
    async with browser(service) as http:
        await sign_up(service, http, "ada")
    pages = []
    async with browser(service) as http:
        # The owner has no password: nothing may be known of that, either.
        for name in ("ada", "bob", "owner", "\0", "a" * 300):
            answer = await send_form(http, "/sign-in", "/sign-in", name=name, password="wrong wrong wrong")
            assert answer.status_code == 401
            assert "meshgrade_session" not in answer.headers.get("set-cookie", "")
            pages.append(answer.text.replace(f'value="{name}"', "").replace(form_token(answer.text), ""))
    assert set(pages) == {pages[0]}
    assert len(compared) == 5


async def test_nobody_signs_in_where_no_password_is_set(service):
    passwords = Passwords()
    assert not await passwords.verify("", None)
    assert not await passwords.verify("anything", None)


async def test_letters_typed_in_two_ways_are_one_password():
    passwords = Passwords()
    assert await passwords.verify("caf\u00e9 au lait", await passwords.hash("cafe\u0301 au lait"))


async def test_a_change_signs_every_other_browser_out_and_keeps_this_one(service):
    async with browser(service) as here, browser(service) as there:
        await sign_up(service, here, "ada")
        await send_form(there, "/sign-in", "/sign-in", name="ada", password=PASSWORD)
        assert (await there.get(ME)).status_code == 200
        answer = await send_form(here, "/account", "/account/password", old=PASSWORD, new=NEW)
        assert (answer.status_code, answer.headers["location"]) == (303, "/account?changed=password")
        assert (await here.get(ME)).status_code == 200
        assert (await there.get(ME)).status_code == 401
        refused = await send_form(there, "/sign-in", "/sign-in", name="ada", password=PASSWORD)
        assert refused.status_code == 401
        assert (await send_form(there, "/sign-in", "/sign-in", name="ada", password=NEW)).status_code == 303


async def test_a_change_needs_the_current_password(service):
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        answer = await send_form(http, "/account", "/account/password", old="wrong", new=NEW)
        assert answer.status_code == 401
        assert "The current password is wrong" in answer.text
        weak = await send_form(http, "/account", "/account/password", old=PASSWORD, new="too-small")
        assert weak.status_code == 422
        assert "too-small" not in weak.text


async def test_the_owner_sets_a_first_password(service):
    await sign_in(service)
    assert "You have no password yet" in (await service.http.get("/account")).text
    assert (await send_form(service.http, "/account", "/account/password", new=NEW)).status_code == 303
    async with browser(service) as http:
        assert (await send_form(http, "/sign-in", "/sign-in", name="owner", password=NEW)).status_code == 303
        assert (await http.get(ME)).json()["role"] == "owner"
