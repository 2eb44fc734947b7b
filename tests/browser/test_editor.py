"""The editor: how it takes the text area's place, and what it does for someone who writes Python."""

from playwright.sync_api import Route, expect

from tests.browser.workbench import PROBLEM, OpenPage, editor


def test_what_is_typed_before_the_editor_has_loaded_is_kept(open_page: OpenPage) -> None:
    page = open_page("/problems")
    held: list[Route] = []
    page.route("**/editor.js", lambda route: held.append(route))
    page.goto(PROBLEM, wait_until="domcontentloaded")
    area = page.locator("textarea")
    area.fill("x = 1\ny = 2\n")
    area.press("ArrowUp")
    area.press("End")
    expect(page.locator("[data-draft-mark]")).to_have_text("Saved")
    for route in held:
        route.continue_()
    expect(editor(page)).to_be_focused()
    page.keyboard.type("3")
    expect(page.locator(".cm-line").nth(1)).to_have_text("y = 23")
    expect(area).to_have_value("x = 1\ny = 23\n")


def test_what_is_typed_before_any_script_has_loaded_is_kept(open_page: OpenPage) -> None:
    page = open_page("/problems")
    held: list[Route] = []
    page.route("**/workbench.js", lambda route: held.append(route))
    page.goto(PROBLEM, wait_until="commit")
    page.get_by_label("Your solution, Python").fill("# typed at once")
    held[0].continue_()
    expect(editor(page)).to_have_text("# typed at once")
    expect(page.locator("[data-draft-mark]")).to_have_text("Saved")


def test_the_text_area_serves_where_the_editor_cannot_be_loaded(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page("/problems")
    page.route("**/editor.js", lambda route: route.abort())
    page.goto(PROBLEM)
    area = page.locator("textarea")
    area.fill("x = ")
    area.press("Control+Enter")
    expect(page.locator("[data-phase]")).not_to_be_empty()
    complaints.clear()  # the browser logs the failed request itself
