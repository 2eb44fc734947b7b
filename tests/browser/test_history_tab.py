"""The tab History of the problem page: two attempts are compared in place."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.app.program_verdict import program_verdict
from tests.browser.accessibility import violations
from tests.browser.browser import Service
from tests.browser.stored_attempts import stored
from tests.browser.workbench import OpenPage, turn_to

_TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("main *")]
    .filter((each) => each.getBoundingClientRect().right > innerWidth && !each.closest(".wide *"))
    .map((each) => each.outerHTML.slice(0, 90))"""
SLUG = "psum_scatter_mean"
IDS = [f"{number:032x}" for number in (8, 9)]


@pytest.fixture(autouse=True)
def two_attempts(service: Service) -> Iterator[None]:
    wrong, right = (program_verdict(SLUG, wrong=wrong) for wrong in (True, False))
    with (
        stored(service, {IDS[0]: wrong}, source="x = 1\ny = 2"),
        stored(service, {IDS[1]: right}),
    ):
        yield


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
    assert violations(page) == []


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
