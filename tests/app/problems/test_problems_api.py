"""Problems over REST: open to everyone, with their public parts only."""

import shutil
from dataclasses import replace

import pytest

from app.problems.catalogue import Catalogue
from grader.checks.grading_table import grading_of
from grader.review.reader import read_package

pytestmark = pytest.mark.anyio


async def test_the_list_and_one_problem_need_no_sign_in(service, package):
    listed = (await service.http.get("/api/v1/problems")).json()["problems"]
    assert [problem["slug"] for problem in listed] == ["add_one"]
    problem = (await service.http.get("/api/v1/problems/add_one")).json()
    assert problem["statement"] == package.statement
    assert problem["starter"] == package.starter
    assert problem["hints"] == 2
    assert problem["grading"] == [each.model_dump(mode="json") for each in grading_of(package.manifest)]
    assert problem["version"] == package.version


async def test_nothing_secret_is_published(service):
    for path in ("/api/v1/problems", "/api/v1/problems/add_one", "/problems/add_one", "/problems", "/"):
        assert "SECRET" not in (await service.http.get(path)).text


def test_a_package_with_faults_is_left_out_and_the_rest_served(tmp_path, package, monkeypatch):
    def read(folder, ceiling=None):
        if folder.name == "broken":
            return read_package(folder)
        return package

    monkeypatch.setattr("app.problems.catalogue.read_package", read)
    folder = tmp_path / "one that does and one that does not"
    for name in ("broken", "add_one"):
        (folder / name).mkdir(parents=True)
    catalogue = Catalogue.load(folder)
    assert [each.slug for each in catalogue.all()] == ["add_one"]
    assert "does not contain a problem.toml" in str(catalogue.faults[0])


def test_of_two_folders_with_one_uuid_the_first_is_served(tmp_path, package):
    folder = tmp_path / "problems"
    shutil.copytree(folder / "add_one", folder / "add_two")
    manifest = folder / "add_two" / "problem.toml"
    manifest.write_text(manifest.read_text().replace('slug = "add_one"', 'slug = "add_two"'))
    catalogue = Catalogue.load(folder)
    assert [each.slug for each in catalogue.all()] == ["add_one"]
    assert "belongs to the problem 'add_one'" in str(catalogue.faults[0])


def test_a_prerequisite_that_is_not_served_is_named_and_its_problem_served(tmp_path, package):
    manifest = tmp_path / "problems" / "add_one" / "problem.toml"
    manifest.write_text(manifest.read_text().replace('mode = "call"', 'mode = "call"\nprerequisites = ["zero"]'))
    catalogue = Catalogue.load(tmp_path / "problems")
    assert [each.slug for each in catalogue.all()] == ["add_one"]
    assert catalogue.unknown_prerequisites() == ["add_one: problem.toml: prerequisites: there is no problem 'zero'"]


def test_a_folder_that_is_not_there_holds_no_problem(tmp_path):
    assert Catalogue.load(tmp_path / "nothing").all() == []


@pytest.mark.parametrize("path", ["/api/v1/problems", "/api/v1/problems/add_one"])
async def test_what_is_known_already_is_not_sent_again(service, path):
    first = await service.http.get(path)
    etag = first.headers["etag"]
    assert etag.startswith('"')
    for known in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        again = await service.http.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    for other in ('"other"', etag[1:-1], ""):
        again = await service.http.get(path, headers={"If-None-Match": other})
        assert (again.status_code, again.json()) == (200, first.json())


async def test_a_new_version_has_another_etag(service, package):
    paths = ("/api/v1/problems", "/api/v1/problems/add_one")
    before = [(await service.http.get(path)).headers["etag"] for path in paths]
    manifest = package.manifest.model_copy(update={"title": "Add two"})
    service.services.add(Catalogue([replace(package, version="b" * 64, manifest=manifest)]))
    for path, etag in zip(paths, before, strict=True):
        answer = await service.http.get(path, headers={"If-None-Match": etag})
        assert answer.status_code == 200
        assert "Add two" in answer.text
        assert answer.headers["etag"] != etag


async def test_the_description_names_the_etag(service):
    paths = (await service.http.get("/openapi.json")).json()["paths"]
    for path in ("/api/v1/problems", "/api/v1/problems/{slug}"):
        described = paths[path]["get"]
        assert {"200", "304"} <= set(described["responses"])
        assert "ETag" in described["responses"]["200"]["headers"]
        assert described["parameters"][-1]["name"] == "if-none-match"
