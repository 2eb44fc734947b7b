"""Downloading a version: the zip that it is, the same each time, for instructors alone."""

import pytest

from app.authoring.package_zip import files_of, zip_of
from grader.review.reader import package_of
from tests.app.authoring.zips import upload
from tests.app.conftest import FILES

pytestmark = pytest.mark.anyio
NEW = FILES | {"statement.md": "Add one, newly."}


async def test_a_stored_version_comes_back_as_it_was(either):
    version = (await upload(either, NEW)).json()["version"]
    address = f"/api/v1/problems/add_one/versions/{version}"
    answer = await either.http.get(address, headers=either.bearer)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert files_of(answer.content) == NEW
    assert (await either.http.get(address, headers=either.bearer)).content == answer.content
    again = await either.http.put(
        "/api/v1/problems/add_one", content=answer.content, headers=either.bearer | {"Content-Type": "application/zip"}
    )
    assert (again.status_code, again.json()["version"]) == (200, version)


@pytest.mark.parametrize(("slug", "version"), [("add_one", "0" * 64), ("add_two", None)])
async def test_a_version_that_the_problem_does_not_have(service, package, slug, version):
    address = f"/api/v1/problems/{slug}/versions/{version or package.version}"
    answer = await service.http.get(address, headers=service.bearer)
    assert (answer.status_code, answer.json()["slug"]) == (404, "version-not-found")


async def test_what_is_no_version_is_refused(service):
    answer = await service.http.get("/api/v1/problems/add_one/versions/latest", headers=service.bearer)
    assert answer.status_code == 422


def test_the_zip_of_a_package_has_its_version():
    package = package_of("add_one", FILES)
    assert package_of("add_one", files_of(zip_of(package.files))).version == package.version
