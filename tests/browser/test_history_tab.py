"""The tab History of the problem page: two attempts are compared in place."""

import sqlite3
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.app.program_verdict import program_verdict
from tests.browser.browser import Service
from tests.browser.stored_attempts import store_attempt
from tests.browser.workbench import OpenPage, turn_to

_TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("main *")]
    .filter((each) => each.getBoundingClientRect().right > innerWidth && !each.closest(".wide *"))
    .map((each) => each.outerHTML.slice(0, 90))"""
SLUG = "psum_scatter_mean"
IDS = [f"{number:032x}" for number in (8, 9)]


@pytest.fixture(autouse=True)
def two_attempts(service: Service) -> Iterator[None]:
    with sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=30) as connection:
        (owner,) = connection.execute("SELECT id FROM users WHERE role = 'owner'").fetchone()
        for attempt_id, wrong in zip(IDS, (True, False), strict=True):
            store_attempt(connection, owner, attempt_id, program_verdict(SLUG, wrong=wrong))
        connection.execute("UPDATE attempts SET source = 'x = 1\ny = 2' WHERE id = ?", (IDS[0],))
    connection.close()
    yield
    with sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=30) as connection:
        connection.executemany("DELETE FROM attempts WHERE id = ?", [(attempt_id,) for attempt_id in IDS])
    connection.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 360)])
def test_two_attempts_are_compared_in_place(open_page: OpenPage, scheme: str, width: int) -> None:
    page = open_page(f"/problems/{SLUG}", color_scheme=scheme, viewport={"width": width, "height": 740})
    history = turn_to(page, "History")
    # Other tests have submitted to the problem as well.
    for name, attempt_id in zip("ab", IDS, strict=True):
        history.locator(f'input[name="{name}"][value="{attempt_id}"]').check()
    history.get_by_role("button", name="Compare A with B").press("Enter")
    heading = history.get_by_role("heading", name="A and B compared")
    expect(heading).to_be_focused()
    expect(history.get_by_role("region", name="Differences from A to B")).to_contain_text("x = 1")
    assert page.url.endswith("#history")
    assert page.evaluate(_TOO_WIDE) == []
    assert [each["id"] for each in Axe().run(page).response["violations"]] == []


def test_the_same_attempt_twice_is_refused_in_place(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page(f"/problems/{SLUG}")
    history = turn_to(page, "History")
    history.get_by_role("radio", name="A:").first.check()
    history.get_by_role("button", name="Compare A with B").click()
    expect(history.get_by_role("alert")).to_contain_text("A and B are the same attempt")
    complaints.clear()  # the browser logs the 422 itself


def test_without_a_script_the_list_leads_to_a_page(open_page: OpenPage) -> None:
    page = open_page(f"/problems/{SLUG}", java_script_enabled=False)
    page.get_by_role("button", name="Compare A with B").click()
    expect(page.get_by_role("region", name="Differences from A to B")).to_be_visible()
