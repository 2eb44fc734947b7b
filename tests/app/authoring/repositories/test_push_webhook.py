"""A push triggers a sync: signed as GitHub does, or with the token of GitLab, and nothing else."""

import hashlib
import hmac
import json

import pytest

from app.authoring.repositories.sync_runner import Syncs
from tests.app.authoring.repositories.asking import REPOSITORIES, outcomes, registered
from tests.app.authoring.repositories.git_server import ADD_ONE, below, write_tree

pytestmark = pytest.mark.anyio
PUSH = json.dumps({"ref": "refs/heads/main", "commits": []}).encode()


@pytest.fixture
async def repository(inside, shelf):
    write_tree(shelf, below("a", ADD_ONE))
    return await registered(inside, shelf)


def signed(secret: str, body: bytes, **headers: str) -> dict[str, str]:
    return {"X-Hub-Signature-256": "sha256=" + hmac.digest(secret.encode(), body, hashlib.sha256).hex(), **headers}


async def push(service, repository, headers, body: bytes = PUSH):
    return await service.http.post(repository["webhook_path"], content=body, headers=headers)


async def finished(service, repository):
    await service.services[Syncs].settled()
    found = await service.http.get(f"{REPOSITORIES}/{repository['id']}/syncs", headers=service.bearer)
    return found.json()["syncs"]


async def test_a_signed_push_begins_a_sync(inside, repository):
    answer = await push(inside, repository, signed(repository["webhook_secret"], PUSH))
    assert answer.status_code == 202
    [sync] = await finished(inside, repository)
    assert (sync["id"], sync["cause"], outcomes(sync)) == (answer.json()["sync"], "webhook", {"add_one": "updated"})


async def test_the_token_of_gitlab_begins_a_sync(inside, repository):
    headers = {"X-Gitlab-Token": repository["webhook_secret"], "X-Gitlab-Event": "Push Hook"}
    assert (await push(inside, repository, headers)).json()["sync"] is not None


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Hub-Signature-256": "sha256=" + "0" * 64},
        {"X-Hub-Signature-256": ""},
        {"X-Gitlab-Token": "wrong"},
        {"X-Gitlab-Token": ""},
        signed("another secret", PUSH),
    ],
)
async def test_anything_else_is_refused(inside, repository, headers):
    answer = await push(inside, repository, headers)
    assert (answer.status_code, answer.json()["slug"]) == (403, "hook-refused")
    assert await finished(inside, repository) == []


async def test_a_signature_belongs_to_its_body_and_its_repository(inside, repository, shelf):
    other = await registered(inside, shelf, folder="a")
    headers = signed(repository["webhook_secret"], PUSH)
    assert (await push(inside, repository, headers, PUSH + b" ")).status_code == 403
    assert (await push(inside, other, headers)).status_code == 403
    assert (await inside.http.post(f"{REPOSITORIES}/{'0' * 32}/webhook")).status_code == 404


async def test_a_ping_begins_no_sync(inside, repository):
    body = b"{}"
    headers = signed(repository["webhook_secret"], body, **{"X-GitHub-Event": "ping"})
    answer = await push(inside, repository, headers, body)
    assert (answer.status_code, answer.json()) == (202, {"sync": None})


async def test_a_push_to_another_branch_begins_no_sync(inside, remote):
    remote.commit(below("a", ADD_ONE))
    repository = await registered(inside, remote.url, branch="exam")
    answer = await push(inside, repository, signed(repository["webhook_secret"], PUSH))
    assert answer.json() == {"sync": None}


async def test_a_body_that_is_no_json_but_signed_begins_one(inside, repository):
    body = b"payload=%7B%7D"
    assert (await push(inside, repository, signed(repository["webhook_secret"], body), body)).json()["sync"]


async def test_it_acts_for_the_one_who_registered_it_as_long_as_they_are_an_instructor(inside, shelf, monkeypatch):
    write_tree(shelf, below("a", ADD_ONE))
    repository = await registered(inside, shelf)
    monkeypatch.setattr("app.authoring.repositories.service.is_at_least", lambda role, minimum: False)
    answer = await push(inside, repository, signed(repository["webhook_secret"], PUSH))
    assert (answer.status_code, answer.json()["slug"]) == (403, "hook-refused")
