"""A sync stores what changed as versions, and reports the outcome of each package."""

import pytest

from app.authoring.repositories.sync_runner import Syncs
from grader.review.reader import package_of
from tests.app.authoring.repositories.asking import REPOSITORIES, outcomes, register, registered, sync
from tests.app.authoring.repositories.git_server import ADD_ONE, below, write_tree
from tests.app.authoring.zips import another
from tests.app.conftest import FILES

pytestmark = pytest.mark.anyio
ADD_TWO = another("add_two") | {"statement.md": "Write `add_one(x)`.\n"}


async def test_a_git_repository_becomes_versions_that_nobody_sees_yet(inside, remote):
    commit = remote.commit(below("a", ADD_ONE) | below("deep/b", ADD_TWO) | {"README.md": "Problems."})
    finished = await sync(inside, await registered(inside, remote.url, branch="main"))
    assert (finished["status"], finished["fault"], finished["commit"]) == ("finished", None, commit)
    assert outcomes(finished) == {"add_one": "updated", "add_two": "new"}
    version = package_of("add_one", ADD_ONE).version
    assert finished["problems"][0] == {
        "folder": "a",
        "problem": "add_one",
        "outcome": "updated",
        "version": version,
        "errors": [],
        "more_errors": 0,
    }
    assert (await inside.http.get("/api/v1/problems/add_one")).json()["statement"] == "Add one."
    assert (await inside.http.get("/api/v1/problems/add_two")).status_code == 404
    versions = await inside.http.get("/api/v1/problems/add_two/versions", headers=inside.bearer)
    assert [each["published"] for each in versions.json()["versions"]] == [False]


async def test_unchanged_content_makes_no_version(inside, remote):
    remote.commit(below("a", ADD_ONE))
    repository = await registered(inside, remote.url)
    assert outcomes(await sync(inside, repository)) == {"add_one": "updated"}
    remote.commit({"README.md": "Changed outside of the package."})
    assert outcomes(await sync(inside, repository)) == {"add_one": "unchanged"}
    remote.commit(below("a", {"editorial.md": "Changed."}))
    assert outcomes(await sync(inside, repository)) == {"add_one": "updated"}
    page = await inside.http.get(f"{REPOSITORIES}/{repository['id']}/syncs?limit=2", headers=inside.bearer)
    assert [outcomes(each) for each in page.json()["syncs"]] == [{"add_one": "updated"}, {"add_one": "unchanged"}]
    rest = await inside.http.get(
        f"{REPOSITORIES}/{repository['id']}/syncs?before={page.json()['next']}", headers=inside.bearer
    )
    assert [outcomes(each) for each in rest.json()["syncs"]] == [{"add_one": "updated"}]


async def test_another_branch_and_a_folder_in_it(inside, remote):
    remote.commit(below("a", ADD_ONE))
    remote.git("switch", "--quiet", "--create", "course/2027")
    remote.commit(below("week-1/b", ADD_TWO))
    one = await registered(inside, remote.url, branch="course/2027", folder="week-1")
    assert outcomes(await sync(inside, one)) == {"add_two": "new"}
    wrong = await sync(inside, await registered(inside, remote.url, folder="week-2"))
    assert wrong["fault"] == "The branch has no folder 'week-2'."
    none = await sync(inside, await registered(inside, remote.url, branch="nowhere"))
    assert none["fault"] == "It has no branch 'nowhere'."


async def test_a_package_at_the_top_of_the_repository(inside, remote):
    remote.commit(ADD_ONE)
    finished = await sync(inside, await registered(inside, remote.url))
    assert (outcomes(finished), finished["problems"][0]["folder"]) == ({"add_one": "updated"}, "")


async def test_a_refused_package_has_the_errors_of_check_and_the_others_are_stored(inside, remote):
    broken = ADD_ONE | {"problem.toml": FILES["problem.toml"].replace("points = 100", "points = 90")}
    unfinished = ADD_TWO | {"hints.md": "## Hint 1\nTODO(author): write it\n"}
    third = another("add_three") | {"statement.md": "Write `add_one(x)`.\n"}
    remote.commit(below("a", broken) | below("b", unfinished) | below("c", third))
    finished = await sync(inside, await registered(inside, remote.url))
    assert outcomes(finished) == {"a": "refused", "add_two": "refused", "add_three": "new"}
    points, todo = [each["errors"] for each in finished["problems"][:2]]
    assert [(each["rule"], each["file"]) for each in points] == [("points", "problem.toml")]
    assert [(each["rule"], each["file"], each["line"]) for each in todo] == [("todo", "hints.md", 2)]


async def test_a_package_may_name_another_of_the_same_repository(inside, remote):
    manifest = ADD_ONE["problem.toml"].replace('mode = "call"', 'mode = "call"\nprerequisites = ["add_two"]')
    remote.commit(below("a", ADD_ONE | {"problem.toml": manifest}) | below("b", ADD_TWO))
    assert outcomes(await sync(inside, await registered(inside, remote.url))) == {
        "add_one": "updated",
        "add_two": "new",
    }


async def test_two_folders_with_one_slug(inside, remote):
    remote.commit(below("a", ADD_ONE) | below("b", ADD_ONE | {"editorial.md": "Other."}))
    finished = await sync(inside, await registered(inside, remote.url))
    assert [each["outcome"] for each in finished["problems"]] == ["updated", "refused"]
    assert finished["problems"][1]["errors"][0]["message"] == "the folder a has the same slug"


async def test_a_folder_of_the_server(inside, shelf):
    write_tree(shelf, below("course/a", ADD_ONE) | {"course/a/__pycache__/x.pyc": "x", "course/.git/config": "x"})
    finished = await sync(inside, await registered(inside, shelf, folder="course"))
    assert (outcomes(finished), finished["commit"]) == ({"add_one": "updated"}, None)


async def test_a_folder_that_the_operator_does_not_permit(inside, shelf, tmp_path):
    write_tree(tmp_path / "other", below("a", ADD_ONE))
    (shelf / "link").symlink_to(tmp_path / "other")
    outside = (tmp_path / "other", shelf / ".." / "other", shelf / "link", "/etc", "relative", "/nul\0")
    for address in (*outside, shelf / "gone", shelf / ("long" * 70)):
        refused = await register(inside, address)
        assert (refused.status_code, refused.json()["slug"]) == (409, "repository-refused"), address


async def test_a_server_without_folders(service, shelf):
    assert "This server permits no folders" in (await register(service, shelf)).json()["detail"]


async def test_links_in_a_folder_are_refused_and_never_read(inside, shelf, tmp_path):
    write_tree(tmp_path, {"secret.md": "A SECRET OF THE SERVER"})
    write_tree(shelf, below("a", ADD_ONE) | below("b", ADD_TWO))
    (shelf / "a" / "editorial.md").unlink()
    (shelf / "a" / "editorial.md").symlink_to(tmp_path / "secret.md")
    (shelf / "b" / "figures").symlink_to(tmp_path)
    finished = await sync(inside, await registered(inside, shelf))
    assert [each["outcome"] for each in finished["problems"]] == ["refused", "refused"]
    found = [error["message"] for each in finished["problems"] for error in each["errors"]]
    assert found[0].startswith("editorial.md is not a plain file") or "is not a plain file" in found[0]
    assert "A SECRET" not in str(finished)


async def test_a_folder_without_packages(inside, shelf):
    finished = await sync(inside, await registered(inside, shelf))
    assert finished["fault"] == "No folder in it contains a problem.toml. Check the branch and the folder."


async def test_both_databases_keep_a_sync(start_service, shelf, database_url):
    write_tree(shelf, below("a", ADD_ONE))
    async with start_service(sync_folders=str(shelf), database_url=database_url) as service:
        repository = await registered(service, shelf)
        assert outcomes(await sync(service, repository)) == {"add_one": "updated"}
        gone = await service.http.delete(f"{REPOSITORIES}/{repository['id']}", headers=service.bearer)
        assert gone.status_code == 204
        left = await service.http.get(REPOSITORIES, headers=service.bearer)
        assert left.json() == {"repositories": []}
        audit = await service.http.get("/api/v1/audit", headers=service.bearer)
        assert [each["action"] for each in audit.json()["entries"][:2]] == ["repository-removed", "repository-added"]


async def test_a_second_request_joins_the_sync_that_runs(inside, shelf):
    write_tree(shelf, below("a", ADD_ONE))
    repository = await registered(inside, shelf)
    path = f"{REPOSITORIES}/{repository['id']}/syncs"
    first = await inside.http.post(path, headers=inside.bearer)
    second = await inside.http.post(path, headers=inside.bearer)
    await inside.services[Syncs].settled()
    kept = (await inside.http.get(path, headers=inside.bearer)).json()["syncs"]
    if second.json()["id"] == first.json()["id"]:
        assert [outcomes(each) for each in kept] == [{"add_one": "unchanged"}, {"add_one": "updated"}]
    assert len(kept) == 2
