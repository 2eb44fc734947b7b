"""If someone forgot their password, the operator lets them in while the server runs."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.accounts.audit.log import AuditLog
from app.core.rest.paging import Cursor
from tests.app.accounts.people import PASSWORD, browser, send_form, sign_in, sign_up

pytestmark = pytest.mark.anyio
CHECKOUT = Path(__file__).resolve().parents[4]


async def reset(data: Path, name: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MESHGRADE_")}
    command = [sys.executable, "-m", "app.entry.cli", "reset-password", name, "--data", str(data)]
    return await asyncio.to_thread(
        subprocess.run, command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=60
    )


async def test_a_link_signs_in_once_and_the_old_password_and_sessions_are_gone(service, tmp_path):
    async with browser(service) as old, browser(service) as new:
        await sign_up(service, old, "ada")
        done = await reset(tmp_path / "data", "ada")
        assert done.returncode == 0, done.stderr
        link = done.stdout.strip().splitlines()[-1]
        [entry] = await service.services[AuditLog].list(Cursor(10))
        assert (entry.action, entry.actor, entry.whom.name) == ("password-reset-by-operator", None, "ada")
        await sign_in(service)
        assert "<td>the operator</td>" in (await service.http.get("/audit", headers={"Accept": "text/html"})).text
        assert link.startswith("http://127.0.0.1:8000/sign-in?token=")
        assert (await old.get("/api/v1/me")).status_code == 401
        assert (await send_form(new, "/sign-in", "/sign-in", name="ada", password=PASSWORD)).status_code == 401
        path = link.removeprefix("http://127.0.0.1:8000")
        assert (await new.get(path)).status_code == 303
        set_anew = await send_form(new, "/account", "/account/password", new="another long password")
        assert set_anew.status_code == 303
        assert (await new.get("/api/v1/me")).json()["name"] == "ada"
        assert (await old.get(path)).status_code == 403


async def test_a_name_that_nobody_has_is_named(service, tmp_path):
    done = await reset(tmp_path / "data", "bob")
    assert done.returncode == 2
    assert "there is no account 'bob'" in done.stderr


async def test_a_wrong_folder_stays_as_it_is(tmp_path):
    done = await reset(tmp_path / "nothing", "ada")
    assert done.returncode == 2
    assert not (tmp_path / "nothing").exists()
