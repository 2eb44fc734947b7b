"""A registrar's roster of forty, an exam on a problem that nobody else sees, points by hand, and the same people in the
file that the platform gets back.

Nothing is executed: the judge accepts exactly the text of the reference.
"""

import csv
import io
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.browser import Service
from tests.browser.test_instructor import FIRST, PASSWORD, SECOND, SLUG, null_service, package

__all__ = ["null_service"]
PEOPLE = [(f"Jana{number:02}", f"Müller{number:02}", f"S{number:03}") for number in range(40)]
PRESENT = 30
# As Canvas exports it: names turned around, and a second row that names no person.
ROSTER = "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n" + "".join(
    f'"{family}, {given}",{7000 + number},{key},{given.lower()},{"Tue" if number % 2 else "Thu"}\n'
    for number, (given, family, key) in enumerate(PEOPLE)
)


@pytest.fixture
def page(browser: Browser, null_service: Service) -> Iterator[Page]:
    """Of a new instructor, who has just signed up."""
    url = null_service.url
    with httpx.Client(headers={"Origin": url}, timeout=60) as http:
        if http.get(null_service.sign_in_url).status_code != 303:
            pytest.fail("the link of the owner was used")
        invited = http.post(f"{url}/api/v1/invitations", json={"role": "instructor"})
    context = browser.new_context(base_url=url, reduced_motion="reduce", accept_downloads=True)
    page = context.new_page()
    page.goto(re.sub(r"^https?://[^/]+", "", invited.json()["url"]))
    page.get_by_label("Name").fill("vera")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    yield page
    context.close()


def create_course(page: Page, name: str) -> str:
    page.goto("/courses")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Time zone").select_option("Europe/Berlin")
    page.get_by_role("button", name="Create course").click()
    page.get_by_role("heading", name=name, level=1).wait_for()
    return re.sub(r"^https?://[^/]+", "", page.url)


def import_roster(page: Page, course: str) -> dict[str, str]:
    """The links of those who have no account yet, by name."""
    page.goto(f"{course}/roster")
    page.get_by_label("Roster").fill(ROSTER)
    page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Import and show the links").click()
    lines = page.get_by_label("People and links").input_value().strip().split("\n")
    return {name: link for name, _, link in (line.split("\t") for line in lines)}


def sit_exam(url: str, link: str, name: str, course: str, source: str | None) -> None:
    """One student: creates the account, starts the exam, and submits."""
    with httpx.Client(base_url=url, headers={"Origin": url}, timeout=60) as http:
        form = http.get(link[link.index("/sign-up") :]).text
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
        created = http.post("/sign-up", data=hidden | {"name": name, "password": PASSWORD})
        assert (created.status_code, created.headers["location"]) == (303, course)
        assert http.get(f"/problems/{SLUG}").status_code == 404
        (exam,) = http.get(f"/api/v1{course}/assignments").json()["assignments"]
        assert http.post(f"/api/v1{course}/assignments/{exam['id']}/start", json={}).is_success
        assert http.get(f"/problems/{SLUG}").status_code == 200
        assert http.get(f"/api/v1/problems/{SLUG}/hints/1").status_code != 200
        if source is not None:
            sent = http.post(f"/api/v1/problems/{SLUG}/attempts?wait=30", json={"source": source})
            assert sent.status_code < 300, sent.text
            assert sent.json()["verdict"] is None


def downloaded(page: Page, course: str, link: str) -> list[dict[str, str]]:
    page.goto(f"{course}/gradebook")
    with page.expect_download() as download:
        page.get_by_role("link", name=link).click()
    return list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8-sig"))))


def test_a_class_of_forty_sits_an_exam(page: Page, null_service: Service, tmp_path: Path) -> None:
    url = null_service.url
    # A version that is stored and not published, for this course.
    page.goto("/authoring")
    page.get_by_label("Slug").fill(SLUG)
    page.get_by_label("Package").set_input_files(package(tmp_path, FIRST))
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url(f"**/authoring/{SLUG}/**")
    course = create_course(page, "Adding, spring")
    page.goto(f"{course}/problems")
    page.get_by_label("Problem").fill(SLUG)
    page.get_by_role("button", name="Give").click()
    expect(page.get_by_text("private")).to_be_visible()
    page.goto(course)
    opens = datetime.now(UTC) - timedelta(hours=3)
    page.get_by_label("Name").fill("Midterm")
    page.get_by_label("Opens").fill(f"{opens:%Y-%m-%dT%H:%M}")
    page.get_by_label("Due").fill(f"{opens + timedelta(days=1):%Y-%m-%dT%H:%M}")
    page.get_by_label("Exam", exact=True).check()
    page.get_by_label("In an exam, minutes for each student").fill("60")
    page.get_by_label("Add a problem").fill(SLUG)
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_label("points for").fill("10")
    page.get_by_role("button", name="Create assignment").click()
    expect(page.get_by_text("Each student has 60 minutes from their start.")).to_be_visible()

    # Thirty of forty come, the last of them sends nothing, and each sees no verdict.
    links = import_roster(page, course)
    assert list(links) == [f"{given} {family}" for given, family, _ in PEOPLE]
    with ThreadPoolExecutor(4) as pool:
        everyone = [
            (url, link, f"cat-{number}", course, None if number == PRESENT - 1 else (FIRST, SECOND)[number % 2])
            for number, link in enumerate(list(links.values())[:PRESENT])
        ]
        list(pool.map(lambda each: sit_exam(*each), everyone))
    for stranger in (
        httpx.get(f"{url}/problems/{SLUG}", timeout=60),
        httpx.get(f"{url}/api/v1/problems/{SLUG}", timeout=60),
    ):
        assert stranger.status_code == 404
        assert "Add one" not in stranger.text

    # It is over. The student who sent nothing gets points by hand, and the reason is in the history.
    page.goto(course)
    page.get_by_text("Actions for Midterm", exact=True).click()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Exam", exact=True).uncheck()
    page.get_by_role("button", name="Save changes").click()
    page.goto(f"{course}/gradebook")
    page.get_by_role("row").filter(has_text=f"Müller{PRESENT - 1:02}").get_by_role("link").last.click()
    give_points(page, "4", "answered orally")
    expect(page.get_by_text("answered orally").first).to_be_visible()

    # Canvas gets back the people that it sent, each with their points.
    rows = [each for each in downloaded(page, course, "Canvas") if each["SIS User ID"]]
    points = {each["SIS User ID"]: (each["Student"], float(list(each.values())[5])) for each in rows}
    assert points == {
        key: (f"{family}, {given}", 4.0 if number == PRESENT - 1 else 10.0 * (number % 2 == 0))
        for number, (given, family, key) in enumerate(PEOPLE[:PRESENT])
    }

    # In the next course, those who have an account need no other, and the others have the same link.
    second = create_course(page, "Adding, autumn")
    again = import_roster(page, second)
    assert list(again) == list(links)[PRESENT:]
    assert [token_of(link) for link in again.values()] == [token_of(link) for link in list(links.values())[PRESENT:]]
    page.goto(f"{second}/people")
    expect(page.get_by_text("Jana00 Müller00 · S000")).to_be_visible()

    # The term after that has the same exam on another day, and nobody in it yet.
    page.goto(f"{course}/copy")
    page.get_by_label("Name of the new course").fill("Adding, next spring")
    page.get_by_label("First assignment opens on").fill("2087-03-15")
    page.get_by_role("button", name="Show the new dates").click()
    expect(page.get_by_role("row").filter(has_text="Midterm")).to_contain_text("15 Mar 2087")
    page.get_by_role("button", name="Create the course").click()
    expect(page.get_by_role("heading", name="Midterm")).to_be_visible()
    expect(page.get_by_text("Jana")).to_have_count(0)


def token_of(link: str) -> str:
    found = re.search(r"invitation=([\w-]+)", link)
    assert found
    return found[1]


def give_points(page: Page, points: str, reason: str) -> None:
    page.get_by_text("Give an override").click()
    form = page.get_by_role("region", name="Override")
    form.get_by_label("Points, of").fill(points)
    form.get_by_label("Reason").fill(reason)
    form.get_by_role("button", name="Save").click()
