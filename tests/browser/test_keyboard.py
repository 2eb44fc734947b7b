"""The main task needs no mouse."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browser import Service
from tests.browser.stored_attempts import stored, verdict_of_call
from tests.browser.workbench import PROBLEM, OpenPage, await_verdict, editor, grade_as

_ACCEPTED = "a" * 31 + "6"


@pytest.fixture
def accepted(service: Service) -> Iterator[str]:
    """An accepted attempt that the judge graded once."""
    with stored(service, {_ACCEPTED: verdict_of_call("accepted")}):
        yield _ACCEPTED


def _focused(page: Page) -> str:
    """Text of the focused element."""
    return str(page.evaluate("document.activeElement.textContent.trim()"))


def _tab_to(page: Page, text: str) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if _focused(page) == text:
            return
    raise AssertionError(f"Tab never reached {text!r}")


def _tab_into_the_editor(page: Page) -> None:
    for _ in range(20):
        page.keyboard.press("Tab")
        if editor(page).evaluate("(each) => each.getRootNode().activeElement === each"):
            return
    raise AssertionError("Tab never reached the editor")


def test_a_problem_is_found_solved_and_its_verdict_read(
    open_page: OpenPage, accepted: str, accepted_source: str
) -> None:
    page = open_page("/problems")
    sent = grade_as(page, accepted)
    page.keyboard.press("Tab")
    assert _focused(page) == "Skip to the content"
    page.keyboard.press("Enter")
    _tab_to(page, "The step on one device")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{PROBLEM}")
    _tab_to(page, "Skip to the editor")
    page.keyboard.press("Enter")
    _tab_into_the_editor(page)
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(accepted_source)
    page.keyboard.press("Control+Shift+Enter")
    expect(await_verdict(page, "accepted").get_by_role("heading", level=2)).to_be_focused()
    assert sent == ["attempts"]


def test_tab_indents_and_does_not_trap(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    editor(page).focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Backspace")
    page.keyboard.press("Tab")
    page.keyboard.type("x")
    assert page.locator(".cm-line").first.text_content() == "    x"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(editor(page)).not_to_be_focused()
    assert _focused(page) == "Run"


def test_the_shortcut_runs_and_writes_no_line(open_page: OpenPage, accepted: str, accepted_source: str) -> None:
    page = open_page(PROBLEM)
    sent = grade_as(page, accepted)
    editor(page).focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(accepted_source)
    lines = page.locator("textarea").input_value()
    page.keyboard.press("Control+Enter")
    await_verdict(page, "accepted")
    assert page.locator("textarea").input_value() == lines
    assert sent == ["runs"]
