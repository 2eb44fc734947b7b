"""Pages in forced colours, drawings in a statement, and a phone's header, which leaves room for the page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.app.program_verdict import program_verdict
from tests.browser.browser import Service
from tests.browser.stored_attempts import stored
from tests.browser.workbench import PROBLEM, OpenPage

_ATTEMPT = "d" * 32


@pytest.fixture(scope="module", autouse=True)
def rejected(service: Service) -> Iterator[None]:
    """A rejected attempt of the owner, until the end of these tests."""
    with stored(service, {_ATTEMPT: program_verdict("fsdp_step", wrong=True)}):
        yield


def test_forced_colours_keep_the_chosen_tab_and_the_border_between_panes(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, forced_colors="active", viewport={"width": 1366, "height": 768})
    width = "(each) => parseFloat(getComputedStyle(each).borderBottomWidth)"
    assert page.get_by_role("tab", name="Statement").evaluate(width) == 3
    assert page.get_by_role("tab", name="Hints").evaluate(width) < 3
    colour = "(each) => getComputedStyle(each, '::before').backgroundColor"
    seen, behind = (
        page.locator(".split").evaluate(colour),
        page.evaluate("getComputedStyle(document.body).backgroundColor"),
    )
    assert seen != behind


def test_forced_colours_outline_the_parts_of_a_drawing(open_page: OpenPage) -> None:
    page = open_page(f"/attempts/{_ATTEMPT}", forced_colors="active")
    strokes = page.locator("section.verdict .drawing rect").evaluate_all(
        "(all) => all.map((each) => getComputedStyle(each).stroke)"
    )
    assert strokes
    assert set(strokes) == {page.evaluate("getComputedStyle(document.body).color")}


def test_the_header_of_a_phone_is_one_row_and_its_menu_needs_no_script(open_page: OpenPage) -> None:
    page = open_page("/problems", viewport={"width": 360, "height": 740}, java_script_enabled=False)
    header = page.locator(".masthead").bounding_box()
    assert header is not None
    assert header["height"] <= 60
    for each in (".brand", ".site > .button", "[data-search]", ".account a"):
        expect(page.locator(f".masthead {each}")).to_be_in_viewport(ratio=1)
    places = page.locator(".masthead nav > *")
    expect(places.first).to_be_hidden()
    page.get_by_role("button", name="Menu").press("Enter")
    # An owner's seven places, and the way out.
    expect(places).to_have_count(8)
    for each in places.all():
        expect(each).to_be_in_viewport(ratio=1)
    page.get_by_role("link", name="Courses").click()
    page.wait_for_url("**/courses")


def test_a_drawing_is_as_wide_as_the_statement_and_in_the_colours_of_the_page(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, viewport={"width": 1440, "height": 900})
    page.locator("details.background > summary").click()
    figure = page.locator(".prose .figure").first
    assert figure.evaluate("(each) => each.scrollWidth - each.clientWidth") == 0
    assert figure.evaluate("(each) => each.querySelector('svg').clientWidth / each.clientWidth") > 0.98
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours = figure.evaluate(
            """(each) => [getComputedStyle(document.body).color,
              getComputedStyle(each.querySelector('text[fill="#1f2933"]')).fill]"""
        )
        assert colours[0] == colours[1]
    drawing = figure.get_by_role("img")
    assert len(drawing.get_attribute("aria-label") or "") > 20


def test_a_drawing_keeps_its_text_on_a_phone_and_scrolls_by_keyboard(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, viewport={"width": 360, "height": 740})
    page.locator("details.background > summary").click()
    figure = page.locator(".prose .figure").first
    sizes = """(each) => [...each.querySelectorAll('text')].map((text) =>
      parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""
    assert min(figure.evaluate(sizes)) >= 11
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    figure.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(each) => each.scrollLeft > 0", arg=figure.element_handle())
