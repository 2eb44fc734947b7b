"""axe finds nothing to complain of on pages that need attempts or a course, in light and dark, large and small."""

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, StorageState

from tests.app.program_verdict import program_verdict
from tests.browser.browser import Service
from tests.browser.stored_attempts import store_attempt
from tests.browser.workbench import PROBLEM, VERDICT_TIMEOUT_MS, OpenPage

LOOKS = [("light", 1440), ("dark", 360)]
PASSWORD = "a quiet mesh of eight"
RANKED = "psum_scatter_mean"


@dataclass
class Work:
    """A student with a rejected and an accepted attempt, and a course; filled by the first test that needs it."""

    student: StorageState | None = None
    paths: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def work() -> Work:
    return Work()


@pytest.fixture(scope="module", autouse=True)
def ranked(service: Service) -> Iterator[None]:
    """Accepted attempts of the owner, so that the ranking has a distribution, a trend and a place."""
    ids = [f"{number:032x}" for number in range(3)]
    with sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=30) as connection:
        (owner,) = connection.execute("SELECT id FROM users WHERE role = 'owner'").fetchone()
        for attempt_id, efficiency in zip(ids, (80.0, 104.24, 98.5), strict=True):
            store_attempt(connection, owner, attempt_id, program_verdict(RANKED, efficiency=efficiency))
    connection.close()
    yield
    with sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=30) as connection:
        connection.executemany("DELETE FROM attempts WHERE id = ?", [(attempt_id,) for attempt_id in ids])
    connection.close()


def _work(open_page: OpenPage, work: Work, sources: list[str]) -> Work:
    if work.paths:
        return work
    owner = open_page("/courses")
    here = {"Origin": owner.url.removesuffix("/courses")}
    owner.get_by_label("Name").fill("Sharding")
    owner.get_by_role("button", name="Create course").click()
    course = re.sub(r"^https?://[^/]+", "", owner.url)
    code = owner.locator("code").first.inner_text()
    owner.get_by_label("Name").fill("Week 1")
    owner.get_by_label("Opens").fill("2026-01-05T09:00")
    owner.get_by_label("Due").fill("2036-01-12T23:59")
    owner.get_by_label("Problems", exact=True).fill("fsdp_step 100")
    owner.get_by_role("button", name="Create assignment").click()
    invited = owner.request.post("/api/v1/invitations", data={"note": "axe"}, headers=here).json()

    student = open_page(re.sub(r"^https?://[^/]+", "", invited["url"]), anonymous=True)
    student.get_by_label("Name").fill("axe")
    student.get_by_label("Password").fill(PASSWORD)
    student.get_by_role("button", name="Create account").click()
    student.goto("/courses")
    student.get_by_label("Join code").fill(code)
    student.get_by_role("button", name="Join").click()
    sent = [
        student.request.post(
            f"/api/v1{PROBLEM}/attempts?wait=60", data={"source": each}, headers=here, timeout=VERDICT_TIMEOUT_MS
        ).json()
        for each in sources
    ]
    assert [each["verdict"]["status"] for each in sent] == ["rejected", "accepted"]
    student.goto(f"/attempts/{sent[0]['id']}")
    student.get_by_role("button", name="Share source and verdict").click()
    shared = student.get_by_role("link", name="See what others see").get_attribute("href")
    work.student = student.context.storage_state()
    person = next(each["id"] for each in owner.request.get("/api/v1/people").json()["people"] if each["name"] == "axe")
    commented = f"/api/v1/people/{person}/attempts/{sent[0]['id']}/comments"
    assert owner.request.post(commented, data={"line": 1, "text": "Is this needed?"}, headers=here).status == 201
    by_hand = f"/api/v1/people/{person}/attempts/{sent[0]['id']}/override"
    assert owner.request.put(by_hand, data={"score": 50, "reason": "as agreed"}, headers=here).status == 200
    [assignment] = owner.request.get(f"/api/v1{course}/assignments").json()["assignments"]
    work.paths = {
        "compare": f"/attempts/compare?a={sent[0]['id']}&b={sent[1]['id']}",
        "shared": str(shared),
        "solutions": f"{PROBLEM}/solutions",
        "course": course,
        "gradebook": f"{course}/gradebook",
        "categories": f"{course}/categories",
        "cell": f"{course}/assignments/{assignment['id']}/cells/fsdp_step/{person}",
        "edit an assignment": f"{course}/assignments/{assignment['id']}/edit",
        "extra time": f"{course}/assignments/{assignment['id']}/extensions",
        "statistics": f"{course}/assignments/{assignment['id']}/statistics",
        "roster": f"{course}/roster",
        "course people": f"{course}/people",
        "course settings": f"{course}/settings",
        "course audit": f"{course}/audit",
        "announcements": f"{course}/announcements",
        "course copy": f"{course}/copy?name=Next&opens=2027-02-01",
        "learning platform": f"{course}/lti",
        "merge": f"/people/{person}/merge?into=owner",
        "similarity": f"{PROBLEM}/similarity",
        "person": f"/people/{person}",
        "attempts of a person": f"/people/{person}/attempts",
        "attempt": f"/attempts/{sent[0]['id']}",
        "attempt of a person": f"/people/{person}/attempts/{sent[0]['id']}",
        "grading": f"/people/{person}/attempts/{sent[0]['id']}/grading",
        "story": f"/people/{person}/problems/fsdp_step",
        "insight": f"{PROBLEM}/insight",
        "ranking": f"/problems/{RANKED}/ranking",
    }
    return work


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
@pytest.mark.parametrize(
    ("name", "as_student"),
    [
        ("compare", True),
        ("attempt", True),
        ("shared", True),
        ("solutions", True),
        ("course", True),
        ("course", False),
        ("gradebook", False),
        ("categories", False),
        ("cell", False),
        ("edit an assignment", False),
        ("statistics", False),
        ("roster", False),
        ("course people", False),
        ("course settings", False),
        ("course copy", False),
        ("course audit", False),
        ("announcements", True),
        ("learning platform", False),
        ("merge", False),
        ("similarity", False),
        ("person", False),
        ("attempts of a person", False),
        ("attempt of a person", False),
        ("grading", False),
        ("story", False),
        ("insight", False),
        ("ranking", False),
    ],
)
def test_a_page_that_shows_work_has_no_violation_and_fits(
    open_page: OpenPage,
    work: Work,
    wrong_source: str,
    accepted_source: str,
    name: str,
    as_student: bool,
    scheme: str,
    width: int,
) -> None:
    found = _work(open_page, work, [wrong_source, accepted_source])
    page = open_page(
        found.paths[name],
        storage_state=found.student if as_student else None,
        color_scheme=scheme,
        viewport={"width": width, "height": 740},
    )
    assert _complaints(page) == []


def _complaints(page: Page) -> list[object]:
    violations = Axe().run(page).response["violations"]
    found = [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in violations]
    if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
        found.append(("wider than the window", []))
    return found
