"""What makes every page look like one product: its faces, its sizes and its links."""

import pytest
from playwright.sync_api import expect

from tests.browser.layout_shift import shift_of
from tests.browser.workbench import PROBLEM, OpenPage

_PATHS = ("/problems", PROBLEM, "/lessons/communication", "/progress", "/account", "/help/reasons", "/search?q=fsdp")
# Links of one line that a finger cannot hit, with what is around them: a link in a sentence counts with its padding.
_SMALL = """[...document.querySelectorAll("a, button, summary, input:not([type=hidden]), select")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .map((each) => [each.getClientRects()[0], each.textContent.trim() || each.outerHTML.slice(0, 80), each])
  .filter(([box, , each]) => box && box.height < 24 && box.width > 1 && !each.closest(".skip, .visually-hidden"))
  .map(([box, text]) => `${text}: ${box.height}`)"""


# What has a line of its own, below the header of the page, has 44 pixels.
_ALONE = """[...document.querySelectorAll("main :is(summary, .stop a, h2 > a, h3 > a, .filter select, .field select)")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .filter((each) => !each.closest(".workbench, .problem-head, .visually-hidden"))
  .map((each) => [each.getBoundingClientRect().height, each.textContent.trim()])
  .filter(([height]) => height < 43.9)"""


@pytest.mark.parametrize("path", [PROBLEM, "/lessons/communication"])
def test_both_faces_come_from_this_site_and_nothing_moves(open_page: OpenPage, path: str) -> None:
    page = open_page(path)
    assert shift_of(page) is None
    loaded = page.evaluate("[...document.fonts].filter((face) => face.status === 'loaded').map((face) => face.family)")
    assert {"Meshgrade Text", "Meshgrade Code"} <= {family.strip('"') for family in loaded}
    assert page.evaluate("getComputedStyle(document.querySelector('code')).fontFamily").startswith('"Meshgrade Code"')


def test_maths_is_no_larger_than_its_text(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    maths = page.locator(".prose math").first
    sizes = maths.evaluate(
        "(each) => [each, each.parentElement].map((one) => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert sizes[0] <= sizes[1]


@pytest.mark.parametrize("path", _PATHS)
def test_a_finger_can_hit_every_link(open_page: OpenPage, path: str) -> None:
    page = open_page(path, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    assert page.evaluate("matchMedia('(pointer: coarse)').matches")
    assert page.evaluate(_SMALL) == []
    assert page.evaluate(_ALONE) == []


def test_a_link_in_prose_is_underlined_and_one_in_the_header_is_not(open_page: OpenPage) -> None:
    page = open_page("/lessons/communication")
    line = "(each) => getComputedStyle(each).textDecorationLine"
    assert page.locator(".prose p a").first.evaluate(line) == "underline"
    assert page.get_by_role("link", name="Problems", exact=True).first.evaluate(line) == "none"


def test_menus_open_by_keyboard_and_close_on_escape(open_page: OpenPage) -> None:
    page = open_page("/lessons", viewport={"width": 360, "height": 740})
    page.get_by_role("button", name="Menu").press("Enter")
    tools = page.locator(".masthead summary", has_text="Tools")
    tools.focus()
    page.keyboard.press("Enter")
    link = page.get_by_role("link", name="Calculators", exact=True)
    expect(link).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(link).to_be_hidden()
    expect(tools).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/calculators")
