"""A new instructor's first day, in a browser: a problem from nothing, a class of 30, their attempts, a comment, other
points, and a rejudge.

Nothing is executed: the judge accepts exactly the text of the reference, so the whole day takes seconds.
"""

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.app.authoring.zips import another, zipped
from tests.browser.browser import Service, serve
from tests.browser.workbench import reload_until

PASSWORD = "four quiet grey geese"
SLUG = "add_two"
STUDENTS = 30
# What one half of the class sends, and what the reference of the first and of the second version is.
FIRST = '"""Adds two to x."""\ndef add_one(x): return x + 2\n'
SECOND = '"""Adds x to two."""\ndef add_one(x): return 2 + x\n'


@pytest.fixture(scope="module")
def null_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The real command with a judge that executes nothing, and without a problem."""
    folder = tmp_path_factory.mktemp("null")
    (folder / "problems").mkdir()
    with serve(folder / "data", problems=folder / "problems", judge="nothing") as running:
        yield running


def package(folder: Path, reference: str) -> Path:
    """A problem with two misconceptions, as a zip."""
    files = {name: text for name, text in another(SLUG).items() if not name.startswith("submissions/")}
    files |= {
        "reference.py": reference,
        "submissions/accepted/same.py": reference,
        "submissions/rejected/wrong_value/one.py": '"""Adds one, and not two."""\ndef add_one(x): return x + 1\n',
        "submissions/rejected/wrong_value/minus.py": '"""Takes two away."""\ndef add_one(x): return x - 2\n',
    }
    file = folder / "package.zip"
    file.write_bytes(zipped(files))
    return file


def validate_and_publish(page: Page) -> None:
    page.get_by_role("button", name="Validate").first.click()
    page.goto(f"/authoring/{SLUG}")
    publish = page.get_by_role("button", name="Publish")
    reload_until(page, publish)
    publish.first.click()


def attend(url: str, link: str, name: str, course: str, source: str) -> httpx.Client:
    """One student: creates the account, which joins the course, and submits."""
    http = httpx.Client(base_url=url, headers={"Origin": url}, timeout=60)
    form = http.get(link[link.index("/sign-up") :]).text
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
    created = http.post("/sign-up", data=hidden | {"name": name, "password": PASSWORD})
    assert (created.status_code, created.headers["location"]) == (303, course)
    sent = http.post(f"/api/v1/problems/{SLUG}/attempts?wait=30", json={"source": source})
    assert sent.json()["status"] == "finished", sent.text
    return http


def test_a_problem_a_class_of_thirty_and_a_rejudge(browser: Browser, null_service: Service, tmp_path: Path) -> None:
    url = null_service.url
    with httpx.Client(headers={"Origin": url}, timeout=60) as http:
        assert http.get(null_service.sign_in_url).status_code == 303
        invited = http.post(f"{url}/api/v1/invitations", json={"role": "instructor"})
        assert invited.status_code == 201, invited.text
    context = browser.new_context(base_url=url, reduced_motion="reduce", accept_downloads=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))

    # Sign in, as somebody new.
    page.goto(re.sub(r"^https?://[^/]+", "", invited.json()["url"]))
    page.get_by_label("Name").fill("tess")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()

    # A problem from nothing, with two misconceptions, validated and published.
    page.goto("/authoring")
    page.get_by_label("Slug").fill(SLUG)
    page.get_by_label("Package").set_input_files(package(tmp_path, FIRST))
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url(f"**/authoring/{SLUG}/**")
    validate_and_publish(page)

    # A course, an assignment and a class.
    page.goto("/courses")
    page.get_by_label("Name").fill("Adding")
    page.get_by_role("button", name="Create course").click()
    course = re.sub(r"^https?://[^/]+", "", page.url)
    page.get_by_label("Name").fill("Week 1")
    page.get_by_label("Opens").fill("2026-01-05T09:00")
    page.get_by_label("Due").fill("2096-01-12T23:59")
    page.get_by_label("Add a problem").fill(SLUG)
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_label("points for").fill("10")
    page.get_by_role("button", name="Create assignment").click()
    page.get_by_role("link", name="Import a roster").click()
    names = [f"student-{number:02}" for number in range(STUDENTS)]
    page.get_by_label("Roster").fill("name,email\n" + "".join(f"{each},{each}@example.org\n" for each in names))
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("The roster can be imported.")).to_be_visible()
    page.get_by_role("button", name="Import and show the links").click()
    lines = page.get_by_label("People and links").input_value().strip().split("\n")
    links = {name: link for name, _, link in (line.split("\t") for line in lines)}
    assert list(links) == names

    # Thirty attempts arrive.
    sources = [FIRST if number % 2 else SECOND for number in range(STUDENTS)]
    with ThreadPoolExecutor(4) as pool:
        everyone = zip(names, sources, strict=True)
        clients = list(pool.map(lambda each: attend(url, links[each[0]], each[0], course, each[1]), everyone))

    # The gradebook, and its files.
    assert totals(page, course) == {name: 10.0 * (number % 2) for number, name in enumerate(names)}
    page.goto(f"{course}/gradebook?below=50")
    assert page.locator("tbody tr").count() == STUDENTS // 2
    page.get_by_role("link", name="Week 1").click()
    expect(page.get_by_text("30 of 30 students submitted")).to_be_visible()
    with page.expect_download() as download:
        page.goto(f"{course}/gradebook")
        page.get_by_role("link", name="as xlsx").click()
    with zipfile.ZipFile(download.value.path()) as workbook:
        assert "xl/worksheets/sheet1.xml" in workbook.namelist()

    # One comment, and other points for an attempt.
    page.goto(f"/problems/{SLUG}/people")
    page.get_by_role("link", name=names[0]).click()
    page.get_by_role("link", name="Attempt, ").click()
    attempt = page.url
    page.get_by_label("Line", exact=True).fill("2")
    page.get_by_label("Comment", exact=True).fill("Which one is added first?")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.get_by_text("Which one is added first?")).to_be_visible()
    page.get_by_label("New points").fill("40")
    page.get_by_label("Reason").fill("the right idea")
    page.get_by_role("button", name="Change the points").click()
    expect(page.get_by_text("40 points count, changed by hand.")).to_be_visible()
    assert totals(page, course)[names[0]] == 4.0
    page.goto(attempt)
    page.get_by_role("button", name="Undo the change").click()
    expect(page.get_by_text("The verdict gives 0 points.")).to_be_visible()

    # Another version, by which all attempts are graded again.
    page.goto(f"/authoring/{SLUG}")
    page.get_by_label("Package").set_input_files(package(tmp_path, SECOND))
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url(f"**/authoring/{SLUG}/versions/**")
    version = page.url
    validate_and_publish(page)
    page.goto(version)
    page.get_by_role("button", name=f"Rejudge {STUDENTS} attempts").click()
    expect(page.get_by_text(f"All {STUDENTS} attempts are graded.")).to_be_visible()
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("The new verdicts are in effect.")).to_be_visible()
    assert totals(page, course) == {name: 10.0 * (1 - number % 2) for number, name in enumerate(names)}

    for each in clients:
        each.close()
    context.close()
    assert complaints == []


def totals(page: Page, course: str) -> dict[str, float]:
    """From the file that the page offers."""
    with page.expect_download() as download:
        page.goto(f"{course}/gradebook")
        page.get_by_role("link", name="Download all as CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8-sig"))))
    return {row["name"]: float(row["total"]) for row in rows}
