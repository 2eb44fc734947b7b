"""Publishing a version: served at once here, soon elsewhere, and still after a restart."""

import asyncio

import pytest

from app.accounts.caller import User
from tests.app.attempts.handing_in import hand_in
from tests.app.conftest import FILES
from tests.app.problems.zips import upload
from tests.app.program_verdict import program_verdict

pytestmark = pytest.mark.anyio
NEW = FILES | {"statement.md": "Add one, newly."}
LIST, ONE = "/api/v1/problems", "/api/v1/problems/add_one"


async def publish(service, version, slug="add_one"):
    url = f"/api/v1/problems/{slug}/publish"
    return await service.http.post(url, json={"version": version}, headers=service.bearer)


async def uploaded(service, files=NEW, slug="add_one"):
    return (await upload(service, files, slug)).json()["version"]


async def test_a_published_version_is_served_at_once(either):
    before = {path: (await either.http.get(path)).headers["etag"] for path in (LIST, ONE)}
    version = await uploaded(either)
    answer = await publish(either, version)
    assert (answer.status_code, answer.json()) == (
        200,
        {"problem": "add_one", "version": version, "checked": None, "attempts_at_other_versions": 0},
    )
    for path, etag in before.items():
        served = await either.http.get(path, headers={"If-None-Match": etag})
        assert (served.status_code, version in served.text) == (200, True)
        assert served.headers["etag"] != etag
    assert "Add one, newly." in (await either.http.get("/problems/add_one")).text
    run = await either.http.post(f"{ONE}/runs", json={"source": "x"}, headers=either.bearer)
    assert run.json()["version"] == version
    assert (await upload(either, NEW)).json()["published"] is True


async def test_it_is_served_after_a_restart_and_can_be_taken_back(start_service, database_url, package):
    async with start_service(database_url=database_url) as service:
        version = await uploaded(service)
        await publish(service, version)
    async with start_service(database_url=database_url) as service:
        assert (await service.http.get(ONE)).json()["version"] == version
        await publish(service, package.version)
        assert (await service.http.get(ONE)).json()["version"] == package.version


async def test_a_problem_that_lies_in_no_folder_is_served_in_its_place(start_service, database_url):
    other = FILES | {"problem.toml": FILES["problem.toml"].replace('"add_one"', '"aaa_one"', 1)}
    async with start_service(database_url=database_url) as service:
        await publish(service, await uploaded(service, other, "aaa_one"), "aaa_one")
    async with start_service(database_url=database_url) as service:
        listed = (await service.http.get(LIST)).json()["problems"]
        assert [each["slug"] for each in listed] == ["aaa_one", "add_one"]


async def test_what_an_operator_took_out_of_the_folder_is_served_no_more(start_service, tmp_path):
    async with start_service():
        pass
    (tmp_path / "empty").mkdir()
    async with start_service(problems=tmp_path / "empty") as service:
        assert (await service.http.get(LIST)).json()["problems"] == []


async def test_another_server_serves_it_soon(start_service, shared_url, tmp_path):
    kept = {"database_url": shared_url, "data": tmp_path / "other"}
    async with start_service(database_url=shared_url) as one, start_service(**kept) as other:
        version = await uploaded(one)
        await publish(one, version)
        while (await other.http.get(ONE)).json()["version"] != version:
            await asyncio.sleep(0.1)


async def test_a_version_that_is_not_there_or_of_another_problem_is_not_published(service, package):
    for slug, version in (("add_one", "0" * 64), ("add_two", package.version)):
        answer = await publish(service, version, slug)
        assert (answer.status_code, answer.json()["slug"]) == (404, "version-not-found")
    assert (await service.http.get(ONE)).json()["version"] == package.version


async def test_a_damaged_version_leaves_the_one_before_it(service, package, monkeypatch):
    version = await uploaded(service)
    await service.app.state.packages.publish("add_one", version)
    service.app.state.packages._read.clear()
    monkeypatch.setattr("app.problems.store.package_of", lambda slug, files: package)
    await service.app.state.authoring._serving.refresh()
    assert (await service.http.get(ONE)).json()["version"] == package.version


async def test_the_answer_says_whether_it_was_checked_and_whom_it_concerns(either):
    me = (await either.http.get("/api/v1/me", headers=either.bearer)).json()
    user = User(me["id"], me["name"], me["role"])
    version = await uploaded(either)
    check = await either.http.post(f"{ONE}/check", json={"version": version}, headers=either.bearer)
    while (await either.http.get(check.headers["location"], headers=either.bearer)).json()["status"] != "finished":
        await asyncio.sleep(0.02)
    judged = program_verdict("add_one", efficiency=100.0)
    for kind, said in (("attempt", judged), ("run", judged.model_copy(update={"score": None}))):
        await hand_in(either.app.state.database, user, said, kind)
    await hand_in(either.app.state.database, user, judged.model_copy(update={"version": version}))
    await hand_in(either.app.state.database, user, judged.model_copy(update={"problem": "add_two"}))
    answer = (await publish(either, version)).json()
    # The judge of these tests accepts the text of the reference alone, so the package's accepted submission is not.
    assert (answer["checked"], answer["attempts_at_other_versions"]) == (False, 1)
