"""The pages on which an instructor registers a repository, syncs it and reads the report."""

import re

import pytest

from app.authoring.repositories.sync_runner import Syncs
from tests.app.accounts.people import SITE, form_token, sign_in
from tests.app.authoring.repositories.git_server import ADD_ONE, below, write_tree
from tests.app.conftest import FILES

pytestmark = pytest.mark.anyio


async def post(service, path: str, page: str, **fields: str):
    return await service.http.post(path, data={"form_token": form_token(page), **fields}, headers=SITE)


async def test_a_repository_is_registered_synced_and_removed(inside, shelf):
    broken = ADD_ONE | {"problem.toml": FILES["problem.toml"].replace("points = 100", "points = 90")}
    write_tree(shelf, below("a", ADD_ONE) | below("b", broken))
    await sign_in(inside)
    page = (await inside.http.get("/repositories")).text
    assert "No repository yet" in page
    assert str(shelf) in page
    made = await post(inside, "/repositories", page, kind="folder", address=str(shelf))
    assert made.status_code == 200
    assert made.headers["Cache-Control"] == "no-store"
    assert "It is shown only once" in made.text
    [here] = set(re.findall(r'action="(/repositories/\w+)/sync"', made.text))
    assert f"http://meshgrade.test/api/v1{here}/webhook" in made.text
    assert (await post(inside, f"{here}/sync", made.text)).headers["location"] == here
    await inside.services[Syncs].settled()
    report = (await inside.http.get(here)).text
    assert re.search(r"1 updated,\s+1 refused", report)
    assert "points of the checks add up to 90" in report
    assert "/authoring/add_one/versions/" in report
    assert "1 updated, 1 refused" in (await inside.http.get("/repositories")).text
    assert (await post(inside, f"{here}/remove", report)).headers["location"] == "/repositories"
    assert (await inside.http.get(here)).status_code == 404


async def test_a_refusal_keeps_the_form(inside):
    await sign_in(inside)
    page = (await inside.http.get("/repositories")).text
    refused = await post(inside, "/repositories", page, kind="git", address="ssh://git@example.org/a", branch="exam")
    assert refused.status_code == 409
    assert "The repository cannot be registered" in refused.text
    assert 'value="exam"' in refused.text


async def test_the_page_says_that_git_is_missing(inside, monkeypatch):
    await sign_in(inside)
    monkeypatch.setattr("app.authoring.repositories.pages.usable_git", lambda: None)
    page = (await inside.http.get("/repositories")).text
    assert "git 2.37 or later is needed to sync repositories" in page
