"""A past source is restored into the editor without losing an unsent draft."""

import re

import pytest

from app.accounts.service import Accounts
from app.learning.workbench.drafts import Drafts
from tests.app.accounts.people import SITE, form_token, send_form, sign_in

pytestmark = pytest.mark.anyio
SENT, TYPED, OTHER = "x = 'sent'\n", "x = 'typed'\n", "x = 'from the laptop'\n"


async def send(service, source: str = SENT) -> str:
    answer = await service.http.post(
        "/api/v1/problems/add_one/runs?wait=60", json={"source": source}, headers=service.bearer
    )
    return f"/attempts/{answer.json()['id']}"


async def save(service, source: str) -> None:
    revision = (await read(service))["revision"]
    body = {"source": source, "revision": revision}
    answer = await service.http.put("/api/v1/problems/add_one/draft", json=body, headers=service.bearer)
    assert answer.status_code == 200


async def read(service) -> dict:
    return (await service.http.get("/api/v1/problems/add_one/draft", headers=service.bearer)).json()


async def replaced(service) -> str:
    return (await service.http.get("/drafts/replaced", headers={"Accept": "text/html"})).text


async def confirm(service, page: str, action: str):
    revision = re.search(r'name="revision" value="(\d+)"', page)[1]
    fields = {"form_token": form_token(page), "revision": revision}
    return await service.http.post(f"{action}/restore", data=fields, headers=SITE)


@pytest.mark.parametrize("before", [None, "", "def add_one(x): ...\n", SENT])
async def test_it_becomes_the_draft_at_once_if_nothing_is_lost(either, before):
    await sign_in(either)
    attempt = await send(either)
    if before is not None:
        await save(either, before)
    answer = await send_form(either.http, "/attempts", f"{attempt}/restore")
    assert (answer.status_code, answer.headers["location"]) == (303, "/problems/add_one#workbench")
    assert (await read(either))["source"] == SENT
    assert "No replaced drafts" in await replaced(either)
    assert "x = &#39;sent&#39;" in (await either.http.get("/problems/add_one", headers={"Accept": "text/html"})).text


async def test_a_draft_that_was_never_sent_is_shown_first_and_then_kept(either):
    await sign_in(either)
    attempt = await send(either)
    await save(either, TYPED)
    shown = await send_form(either.http, attempt, f"{attempt}/restore")
    assert shown.status_code == 409
    assert "removed: </span>x = &#39;typed&#39;" in shown.text
    assert "added: </span>x = &#39;sent&#39;" in shown.text
    assert (await read(either))["source"] == TYPED

    assert (await confirm(either, shown.text, attempt)).status_code == 303
    assert (await read(either))["source"] == SENT
    page = await replaced(either)
    assert "x = &#39;typed&#39;" in page

    # And back: the restored text is an attempt, so there is nothing to confirm or to store.
    draft = re.search(r'action="(/drafts/replaced/\w+)/restore"', page)[1]
    assert (await send_form(either.http, "/drafts/replaced", f"{draft}/restore")).status_code == 303
    assert (await read(either))["source"] == TYPED
    assert (await replaced(either)).count("Discard") == 1
    assert (await send_form(either.http, "/drafts/replaced", f"{draft}/discard")).status_code == 303
    assert "No replaced drafts" in await replaced(either)


async def test_a_draft_that_changed_after_it_was_shown_is_shown_again(either):
    await sign_in(either)
    attempt = await send(either)
    await save(either, TYPED)
    shown = await send_form(either.http, attempt, f"{attempt}/restore")
    await save(either, OTHER)
    again = await confirm(either, shown.text, attempt)
    assert again.status_code == 409
    assert "Nothing was replaced." in again.text
    assert "from the laptop" in again.text
    assert (await read(either))["source"] == OTHER
    assert (await confirm(either, again.text, attempt)).status_code == 303
    page = await replaced(either)
    assert "from the laptop" in page
    assert "typed" not in page


async def test_the_oldest_of_too_many_is_dropped(either, monkeypatch):
    monkeypatch.setattr("app.learning.workbench.drafts._MOST_REPLACED", 2)
    services = either.services
    owner = await services[Accounts].ensure_owner()
    for number in range(4):
        draft = await services[Drafts].get(owner, "add_one")
        draft = await services[Drafts].save(owner, "add_one", f"draft {number}", draft.revision)
        await services[Drafts].restore(owner, draft, f"source {number}", keep=True)
    assert [each.source for each in await services[Drafts].list_replaced(owner)] == ["draft 3", "draft 2"]
