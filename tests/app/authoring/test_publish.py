"""Publishing a version: served at once here, soon elsewhere, and still after a restart."""

import asyncio

import pytest

from app.accounts.caller import User
from app.authoring.service import Authoring
from app.core.database import Database
from app.problems.package_store import PackageStore
from tests.app.accounts.people import SITE, browser, sign_up
from tests.app.authoring.test_validation import GOOD
from tests.app.authoring.zips import another, upload
from tests.app.conftest import FILES
from tests.app.grading.attempts.handing_in import hand_in
from tests.app.program_verdict import program_verdict

pytestmark = pytest.mark.anyio
NEW = FILES | {"statement.md": "Add one, newly."}
LIST, ONE = "/api/v1/problems", "/api/v1/problems/add_one"


async def publish(service, version, slug="add_one", *, force=True):
    url = f"/api/v1/problems/{slug}/publish"
    return await service.http.post(url, json={"version": version, "force": force}, headers=service.bearer)


async def validated(service, version):
    answer = await service.http.post(f"{ONE}/validations", json={"version": version}, headers=service.bearer)
    while (found := await service.http.get(answer.headers["location"], headers=service.bearer)).json()[
        "passed"
    ] is None:
        await asyncio.sleep(0.02)
    return found.json()


async def uploaded(service, files=NEW, slug="add_one"):
    return (await upload(service, files, slug)).json()["version"]


async def test_a_published_version_is_served_at_once(either):
    before = {path: (await either.http.get(path)).headers["etag"] for path in (LIST, ONE)}
    version = await uploaded(either)
    answer = await publish(either, version)
    assert (answer.status_code, answer.json()) == (
        200,
        {
            "problem": "add_one",
            "version": version,
            "validated": None,
            "forced": True,
            "attempts_at_other_versions": 0,
        },
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
    other = another("aaa_one")
    async with start_service(database_url=database_url) as service:
        await publish(service, await uploaded(service, other, "aaa_one"), "aaa_one")
    async with start_service(database_url=database_url) as service:
        listed = (await service.http.get(LIST)).json()["problems"]
        assert [each["slug"] for each in listed] == ["aaa_one", "add_one"]


async def test_what_an_operator_took_out_of_the_folder_is_served_no_more(start_service, tmp_path):
    async with start_service():
        pass
    other = tmp_path / "other" / "aaa_one"
    for name, text in another("aaa_one").items():
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text(text)
    async with start_service(problems=other.parent) as service:
        assert [each["slug"] for each in (await service.http.get(LIST)).json()["problems"]] == ["aaa_one"]


@pytest.mark.xdist_group("postgresql")
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


async def test_a_version_whose_uuid_another_problem_has_by_now_is_not_published(service):
    first, second = another("aaa_one"), another("bbb_one")
    second["problem.toml"] = first["problem.toml"].replace('"aaa_one"', '"bbb_one"', 1)
    versions = [await uploaded(service, files, slug) for files, slug in ((first, "aaa_one"), (second, "bbb_one"))]
    assert (await publish(service, versions[0], "aaa_one")).status_code == 200
    refused = await publish(service, versions[1], "bbb_one")
    assert (refused.status_code, refused.json()["slug"]) == (422, "package-invalid")
    assert "belongs to the problem 'aaa_one'" in refused.json()["faults"][0]


async def test_a_damaged_version_leaves_the_one_before_it(service, package, monkeypatch):
    version = await uploaded(service)
    await service.services[PackageStore].publish("add_one", version)
    service.services[PackageStore]._read.clear()
    monkeypatch.setattr("app.problems.package_store.package_of", lambda slug, files, is_stored: package)
    await service.services[Authoring]._serving.refresh()
    assert (await service.http.get(ONE)).json()["version"] == package.version


async def test_the_answer_says_whether_it_was_validated_and_whom_it_concerns(either):
    me = (await either.http.get("/api/v1/me", headers=either.bearer)).json()
    user = User(me["id"], me["name"], me["role"])
    version = await uploaded(either)
    await validated(either, version)
    judged = program_verdict("add_one", efficiency=100.0)
    for kind, said in (("attempt", judged), ("run", judged.model_copy(update={"score": None}))):
        await hand_in(either.services[Database], user, said, kind)
    await hand_in(either.services[Database], user, judged.model_copy(update={"version": version}))
    await hand_in(either.services[Database], user, judged.model_copy(update={"problem": "add_two"}))
    answer = (await publish(either, version)).json()
    # The judge of these tests accepts the text of the reference alone, so the package's accepted submission is not.
    assert (answer["validated"], answer["attempts_at_other_versions"]) == (False, 1)


async def test_a_version_that_was_not_validated_is_published_only_by_force(service, package):
    faulty, good = await uploaded(service), await uploaded(service, GOOD)
    never = await publish(service, faulty, force=False)
    assert (never.status_code, never.json()["slug"]) == (409, "version-not-validated")
    assert "never validated" in never.json()["detail"]
    assert (await validated(service, faulty))["passed"] is False
    refused = await publish(service, faulty, force=False)
    assert (refused.status_code, " failed. " in refused.json()["detail"]) == (409, True)
    assert (await service.http.get(ONE)).json()["version"] == package.version
    assert (await validated(service, good))["passed"] is True
    answer = (await publish(service, good, force=False)).json()
    assert (answer["validated"], answer["forced"]) == (True, False)
    # `force` that was not needed is not recorded.
    assert (await publish(service, good)).json()["forced"] is False


async def test_a_validation_that_goes_on_takes_back_nothing_that_passed(service, monkeypatch):
    good = await uploaded(service, GOOD)
    await validated(service, good)
    await service.services[Authoring].validations.request(good, 5)
    assert (await service.services[Authoring].validations.latest(good)).passed is True


async def test_who_published_what_is_kept_and_listed(either, package):
    faulty, good = await uploaded(either), await uploaded(either, GOOD)
    await validated(either, good)
    await publish(either, faulty)
    await publish(either, good, force=False)
    listed = await listing(either, "publications")
    assert [(each["version"], each["origin"], each["user"], each["validated"], each["forced"]) for each in listed] == [
        (good, "upload", "owner", True, False),
        (faulty, "upload", "owner", None, True),
        (package.version, "folder", None, None, False),
    ]


async def test_an_account_that_goes_leaves_what_it_published_without_its_name(service):
    async with browser(service) as http:
        await sign_up(service, http, "grace", "instructor")
        version = await uploaded(service)
        body = {"version": version, "force": True}
        assert (await http.post(f"{ONE}/publish", json=body, headers=SITE)).status_code == 200
        assert (await listing(service, "publications"))[0]["user"] == "grace"
        await http.delete("/api/v1/me?name=grace", headers=SITE)
    newest = (await listing(service, "publications"))[0]
    assert (newest["version"], newest["user"], newest["forced"]) == (version, None, True)


async def listing(service, what, limit=100, **query):
    """All pages of a list. Each page but the last is full."""
    found, before = [], None
    while True:
        params = {"limit": limit, **query} | ({"before": before} if before else {})
        answer = await service.http.get(f"{ONE}/{what}", params=params, headers=service.bearer)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += page[what]
        before = page["next"]
        if before is None:
            return found
        assert len(page[what]) == limit


async def test_versions_validations_and_publications_are_listed_in_pages(either):
    versions = [await uploaded(either, FILES | {"statement.md": f"Add {number}."}) for number in range(4)]
    for version in versions[:3]:
        await validated(either, version)
        await publish(either, version)
    for what in ("versions", "validations", "publications"):
        whole = await listing(either, what)
        moments = [each.get("created_at") or each["published_at"] for each in whole]
        assert moments == sorted(moments, reverse=True)
        for limit in (1, 2, 3):
            assert await listing(either, what, limit) == whole
    listed = await listing(either, "versions")
    assert [each["version"] for each in listed[:4]] == versions[::-1]
    assert [each["version"] for each in listed if each["published"]] == [versions[2]]
    of_one = await listing(either, "validations", version=versions[1])
    assert [(each["version"], each["status"], each["done"] > 0) for each in of_one] == [(versions[1], "finished", True)]
    assert "steps" not in of_one[0]


@pytest.mark.parametrize(
    ("what", "unknown", "slug"),
    [
        ("versions", "0" * 64, "version-not-found"),
        ("validations", "0" * 32, "validation-not-found"),
        ("publications", "0" * 32, "publication-not-found"),
        ("rejudges", "0" * 32, "rejudge-not-found"),
    ],
)
async def test_a_list_that_cannot_be_read_says_why(service, what, unknown, slug):
    get, bearer = service.http.get, service.bearer
    answer = await get(f"{ONE}/{what}?before={unknown}", headers=bearer)
    assert (answer.status_code, answer.json()["slug"]) == (404, slug)
    assert (await get(f"{ONE}/{what}?before=x", headers=bearer)).json()["slug"] == "field-invalid"
    assert (await get(f"{ONE}/{what}?limit=101", headers=bearer)).json()["slug"] == "field-invalid"
    assert (await get(f"{LIST}/nothing/{what}", headers=bearer)).json()["slug"] == "problem-not-found"
