"""The problems over REST: open to everybody, and only their public parts."""

import pytest

from app.problems.service import Catalogue
from grader.errors import PackageInvalid

pytestmark = pytest.mark.anyio


async def test_the_list_and_one_problem_need_no_sign_in(service, package):
    listed = (await service.http.get("/api/v1/problems")).json()["problems"]
    assert [problem["slug"] for problem in listed] == ["add_one"]
    problem = (await service.http.get("/api/v1/problems/add_one")).json()
    assert problem["statement"] == package.statement
    assert problem["starter"] == package.starter
    assert problem["hints"] == 2
    assert problem["version"] == package.version


async def test_nothing_secret_is_published(service):
    for path in ("/api/v1/problems", "/api/v1/problems/add_one", "/problems/add_one", "/"):
        assert "SECRET" not in (await service.http.get(path)).text


def test_a_package_with_faults_is_left_out_and_the_rest_served(tmp_path, package, monkeypatch):
    def read(folder):
        if folder.name == "broken":
            raise PackageInvalid(str(folder), ["there is no problem.toml in it"])
        return package

    monkeypatch.setattr("app.problems.service.read_package", read)
    for name in ("broken", "add_one"):
        (tmp_path / name).mkdir()
    catalogue = Catalogue.load(tmp_path)
    assert [each.slug for each in catalogue.all()] == ["add_one"]
    assert "no problem.toml" in str(catalogue.faults[0])


def test_a_folder_that_is_not_there_holds_no_problem(tmp_path):
    assert Catalogue.load(tmp_path / "nothing").all() == []
