"""The Explorer with the real judge: a source is compiled, and a line leads to what it causes and back."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.browser import CHECKOUT
from tests.browser.workbench import VERDICT_TIMEOUT_MS, OpenPage

PROBLEM = "psum_scatter_mean"
_FOLDER = CHECKOUT / "problems" / PROBLEM
SOURCE = (_FOLDER / "reference.py").read_text(encoding="utf-8")
OTHER = (_FOLDER / "submissions/rejected/wrong_communication/psum_then_slice.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def explored_path() -> dict[str, str]:
    """Filled by the first test that needs a result, so that one exploration serves them all."""
    return {}


def _open(open_page: OpenPage, known: dict[str, str], **options: object) -> Page:
    """The result of comparing two versions."""
    if "path" not in known:
        page = open_page(f"/explore?problem={PROBLEM}", java_script_enabled=False)
        page.get_by_label("Source, Python").fill(SOURCE)
        page.get_by_text("Compare with another version").click()
        page.get_by_label("The other version, Python").fill(OTHER)
        page.get_by_role("button", name="Explore", exact=True).click()
        expect(page.get_by_role("heading", name="What differs").first).to_be_visible(timeout=VERDICT_TIMEOUT_MS)
        known["path"] = page.url.partition("/explore/")[2]
    page = open_page(f"/explore/{known['path']}", **options)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    return page


def test_a_collective_leads_to_its_line_and_back(open_page: OpenPage, explored_path: dict[str, str]) -> None:
    page = _open(open_page, explored_path)
    row = page.get_by_role("row").filter(has_text="reduce-scatter").first
    link = row.get_by_role("link")
    number = link.inner_text().removeprefix("line ")
    line = page.locator(f"#line-{number}")
    expect(line).to_contain_text("reduce-scatter over")
    link.hover()
    expect(line).to_have_class("source-line is-cause is-pointed-at")
    line.hover()
    expect(row).to_have_class("is-pointed-at")
    link.click()
    assert page.url.endswith(f"#line-{number}")
    expect(line).to_be_in_viewport()


def test_a_compiled_program_is_searched(open_page: OpenPage, explored_path: dict[str, str]) -> None:
    page = _open(open_page, explored_path)
    listing = page.locator("[data-searched]").nth(1)
    everything = listing.get_by_role("listitem").count()
    listing.get_by_label("Find in the HLO that each device runs").fill("reduce-scatter(")
    expect(listing.get_by_role("status")).to_have_text("1 instruction")
    expect(listing.get_by_role("listitem")).to_have_count(1)
    listing.get_by_role("link").hover()
    expect(page.locator(".source-line.is-pointed-at")).to_have_count(1)
    listing.get_by_label("Find in the HLO that each device runs").fill("")
    expect(listing.get_by_role("listitem")).to_have_count(everything)


def test_the_editor_sends_what_it_holds(open_page: OpenPage) -> None:
    page = open_page(f"/explore?problem={PROBLEM}")
    box = page.locator(".cm-content").and_(page.get_by_role("textbox", name="Source, Python"))
    box.focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("def nothing_of_the_kind():\n    pass\n")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("There is no program", timeout=VERDICT_TIMEOUT_MS)
    page.get_by_role("link", name="Change it and explore again").click()
    expect(page.locator(".cm-content").first).to_contain_text("nothing_of_the_kind")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_result_has_no_violation(open_page: OpenPage, explored_path: dict[str, str], scheme: str) -> None:
    page = _open(open_page, explored_path, color_scheme=scheme)
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in found] == []


def test_a_result_fits_360_pixels(open_page: OpenPage, explored_path: dict[str, str]) -> None:
    page = _open(open_page, explored_path, viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in found] == []


def test_any_function_is_explored_on_a_phone_and_without_a_script(open_page: OpenPage) -> None:
    page = open_page("/explore", java_script_enabled=False, viewport={"width": 360, "height": 740})
    page.get_by_role("link", name="On 256 devices").click()
    expect(page.get_by_label("Mesh")).to_have_value("data=64, model=4")
    page.get_by_role("button", name="Explore", exact=True).click()
    expect(page.get_by_role("heading", name="Mesh data = 64, model = 4")).to_be_visible(timeout=VERDICT_TIMEOUT_MS)
    expect(page.get_by_role("row").filter(has_text="all-reduce")).to_contain_text("line 6")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("link", name="Change it and explore again").click()
    expect(page.get_by_label("Inputs")).to_have_value(re.compile(r"^x: bfloat16\[65536, 4096\]"))
