"""A printed statement has no workbench, and no code is cut off."""

import pytest
from playwright.sync_api import expect

from tests.browser.workbench import PROBLEM, OpenPage

# A4 with margins of 2 cm, in CSS pixels.
PAPER = {"width": 643, "height": 972}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_only_the_statement_is_printed(open_page: OpenPage, scheme: str) -> None:
    page = open_page(f"{PROBLEM}#hints", viewport=PAPER, color_scheme=scheme)
    page.emulate_media(media="print")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("article", name="Statement")).to_be_visible()
    expect(page.locator("#s-pitfalls")).to_be_visible()  # folded on the screen
    for hidden in (".masthead", ".footer", ".workbench", ".hints", "#editorial", ".pane-head", ".split", ".toc"):
        for each in page.locator(hidden).all():
            expect(each).to_be_hidden()
    colours = page.evaluate(
        "(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))"
    )
    assert colours == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]


def test_no_line_of_code_is_cut(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, viewport={"width": 400, "height": 600})
    cut = (
        "[...document.querySelectorAll('pre, .wide')].filter((each) => each.scrollWidth > each.clientWidth + 1).length"
    )
    page.locator(".background > summary").click()
    assert page.evaluate(cut) > 0  # on so narrow a screen it scrolls
    page.emulate_media(media="print")
    code = "[...document.querySelectorAll('pre')].filter((each) => each.scrollWidth > each.clientWidth + 1).length"
    assert page.evaluate(code) == 0
