"""A draft is the same on every device, and neither of two versions is lost."""

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.workbench import PROBLEM, OpenPage, editor, write


def mark(page: Page) -> Locator:
    return page.locator("[data-draft-mark]")


def save(page: Page, source: str) -> None:
    write(page, source)
    expect(mark(page)).to_have_text("Saved")


def test_a_second_device_begins_with_the_draft(open_page: OpenPage) -> None:
    save(open_page(PROBLEM), "# from the laptop")
    expect(editor(open_page(PROBLEM))).to_have_text("# from the laptop")
    without_script = open_page(PROBLEM, java_script_enabled=False)
    expect(without_script.get_by_label("Your solution, Python")).to_have_value("# from the laptop")


def test_a_second_tab_shows_what_is_typed_in_the_first(open_page: OpenPage) -> None:
    first = open_page(PROBLEM)
    second = first.context.new_page()
    second.goto(PROBLEM)
    save(first, "# typed in the first tab")
    expect(editor(second)).to_have_text("# typed in the first tab")
    save(second, "# and then in the second")
    expect(editor(first)).to_have_text("# and then in the second")
    expect(first.locator("[data-conflict]")).to_be_hidden()


@pytest.mark.parametrize("chosen", ["mine", "other"])
def test_of_two_versions_both_are_shown_and_kept(open_page: OpenPage, complaints: list[str], chosen: str) -> None:
    laptop, desk = open_page(PROBLEM), open_page(PROBLEM)
    versions = {"other": f"x = 1\n# from the laptop, {chosen}", "mine": f"x = 1\n# from the desk, {chosen}"}
    save(laptop, versions["other"])
    write(desk, versions["mine"])
    conflict = desk.locator("[data-conflict]")
    expect(conflict).to_be_visible()
    expect(conflict.locator(".line-mine")).to_have_text(f"\N{MINUS SIGN} {versions['mine'].splitlines()[1]}")
    expect(conflict.locator(".line-other")).to_have_text(f"+ {versions['other'].splitlines()[1]}")
    name = "Keep the version in this editor" if chosen == "mine" else "Use the other version"
    desk.get_by_role("button", name=name).click()
    expect(conflict).to_be_hidden()
    expect(mark(desk)).to_have_text("Saved")
    desk.reload()
    assert desk.locator("textarea").input_value() == versions[chosen]
    rest = desk.locator("[data-kept]")
    rest.locator("summary").click()
    expect(rest.locator("pre")).to_have_text(versions["mine" if chosen == "other" else "other"])
    rest.get_by_role("button", name="Discard it").click()
    expect(rest).to_be_hidden()
    complaints.clear()  # the browser logs the 409 itself


def test_typing_on_after_a_save_whose_answer_was_lost_is_no_conflict(
    open_page: OpenPage, complaints: list[str]
) -> None:
    page = open_page(PROBLEM)
    save(page, "# one")
    # The server stores it, and the page never learns of that.
    page.route("**/draft", lambda route: (route.fetch(), route.abort()))
    write(page, "# one, two")
    expect(mark(page)).to_have_text("Offline: kept in this browser")
    page.unroute("**/draft")
    write(page, "# one, two, three")
    expect(mark(page)).to_have_text("Saved")
    expect(page.locator("[data-conflict]")).to_be_hidden()
    complaints.clear()  # the browser logs the 409 itself


def test_what_is_typed_offline_is_saved_later(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page(PROBLEM)
    page.context.set_offline(True)
    write(page, "# in a tunnel", offline=True)
    expect(mark(page)).to_have_text("Offline: kept in this browser")
    page.context.set_offline(False)
    expect(mark(page)).to_have_text("Saved")
    expect(editor(open_page(PROBLEM))).to_have_text("# in a tunnel")
    complaints.clear()  # the browser logs the failed request itself


def test_a_draft_is_text_whatever_it_holds(open_page: OpenPage) -> None:
    evil = "</textarea><script>document.title = 'seized'</script><img src=x onerror=\"document.title = 'seized'\">"
    save(open_page(PROBLEM), evil)
    page = open_page(PROBLEM)
    expect(editor(page)).to_have_text(evil)
    assert "seized" not in page.title()


@pytest.mark.parametrize("width", [1100, 1440])
def test_no_button_changes_its_row_when_scripts_load_or_the_draft_is_saved(open_page: OpenPage, width: int) -> None:
    """Here workbench.js comes only when it is let through, as on a slow network."""
    page = open_page("/lessons", viewport={"width": width, "height": 800})
    held: list[Route] = []
    page.route("**/workbench.js", lambda route: held.append(route))
    page.goto(f"{PROBLEM}#workbench", wait_until="commit")
    toolbar = page.locator("[data-workbench] .bar > .toolbar")
    expect(toolbar.get_by_role("button", name="Submit")).to_be_visible()
    # Positions before the style sheets are loaded are those of another page.
    page.wait_for_function("() => [...document.querySelectorAll('link[rel=stylesheet]')].every(each => each.sheet)")
    page.evaluate("document.fonts.ready.then(() => true)")
    before = rows(toolbar)
    for each in held:
        each.continue_()
    expect(page.locator("[data-editor-menu] > summary")).to_be_visible()
    assert rows(toolbar) == before
    for source in (f"# typed at {width}", f"# typed again at {width}"):
        save(page, source)
        assert rows(toolbar) == before


def rows(toolbar: Locator) -> list[int]:
    """How far below the toolbar's top each of its buttons is."""
    script = "bar => [...bar.children].filter(each => each.matches('.button, .menu')).map(each => "
    return toolbar.evaluate(f"{script}Math.round(each.getBoundingClientRect().top - bar.getBoundingClientRect().top))")
