"""A course as a zip file: what its students sent, by assignment and student, and tables."""

import csv
import io
from zipfile import ZipFile

import pytest

from app.teaching.courses import course_export
from tests.app.teaching.courses.test_courses import JSON, at, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, send

__all__ = ["people"]

pytestmark = pytest.mark.anyio


def table(archive: ZipFile, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(archive.read(name).decode("utf-8-sig"))))


async def test_everything_about_a_course_is_in_one_zip_file(either, people, monkeypatch):
    monkeypatch.setattr(course_export, "_ATTEMPTS_AT_ONCE", 1)
    ada, bob, tess = people
    course = await create(tess, name="Week 1/../2")
    page, path = f"/courses/{course['id']}", f"/api/v1/courses/{course['id']}"
    for name in ("Week 1/../2", "Later"):
        problems = [{"problem": "add_one", "points": 10}]
        body = {"name": name, "opens": at(days=1 if name == "Later" else -1), "due": at(days=9), "problems": problems}
        assert (await tess.post(f"{path}/assignments", json=body, headers=JSON)).status_code == 201
    for each in (ada, bob):
        await join(each, course)
    await send(either, ada, GOOD)
    await send(either, ada, f"{GOOD}# again\n")
    await tess.post(f"{path}/announcements", json={"text": "Welcome"}, headers=JSON)
    answer = await tess.get(f"{page}/export.zip")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    archive = ZipFile(io.BytesIO(answer.content))
    assert archive.testzip() is None
    folders = ["Week 1____2", "Week 1____2 (2)"]
    assert sorted(archive.namelist()) == sorted(
        [
            *("gradebook.csv", "roster.csv", "audit.csv"),
            *(f"{folder}/ada/add_one/{number}-attempt.py" for folder in folders for number in (1, 2)),
            *(
                f"{folder}/{who}/{file}.csv"
                for folder in (*folders, "Later")
                for who in ("ada", "bob")
                for file in ("points", "attempts")
            ),
        ]
    )
    assert archive.read(f"{folders[0]}/ada/add_one/2-attempt.py").decode() == f"{GOOD}# again\n"
    [points] = table(archive, f"{folders[0]}/ada/points.csv")
    assert (points["problem"], points["points"], points["of"]) == ("add_one", "50.0", "50")
    sent = table(archive, f"{folders[0]}/ada/attempts.csv")
    assert [(each["file"], each["score"]) for each in sent] == [
        ("add_one/1-attempt.py", "100"),
        ("add_one/2-attempt.py", "0"),
    ]
    assert [each["account"] for each in table(archive, "roster.csv")] == ["ada", "bob"]
    assert [each["name"] for each in table(archive, "gradebook.csv")] == ["ada", "bob"]
    actions = [(each["who"], each["action"]) for each in table(archive, "audit.csv")]
    created = ["course-created", *["assignment-created"] * 3]
    assert actions == [("tess", each) for each in (*created, "announced", "course-exported")]
    assert (await tess.get(f"{path}/export")).status_code == 200
    assert (await ada.get(f"{page}/export.zip")).status_code == 403


async def test_an_empty_course_is_a_zip_file_too(either, people):
    tess = people[2]
    course = (await tess.post("/api/v1/courses", json={"name": "JAX", "time_zone": "UTC"}, headers=JSON)).json()
    archive = ZipFile(io.BytesIO((await tess.get(f"/api/v1/courses/{course['id']}/export")).content))
    assert archive.namelist() == ["gradebook.csv", "roster.csv", "audit.csv"]
