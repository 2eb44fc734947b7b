"""The parts of the problem page: text beside code on a wide window, tabs on a phone."""

import ast
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.accessibility import violations
from tests.browser.browser import CHECKOUT, Service
from tests.browser.stored_attempts import stored, verdict_of_call
from tests.browser.workbench import PROBLEM, OpenPage, await_verdict, editor, grade_as, turn_to, write

WIDE = {"width": 1366, "height": 768}
PHONE = {"width": 360, "height": 740}
PARTS = ["Statement", "Hints", "Verdict", "History", "Editorial"]
_REJECTED = "a" * 31 + "7"
_MISTAKEN, _RIGHT = "a" * 31 + "8", "a" * 31 + "9"


@pytest.fixture
def rejected(service: Service) -> Iterator[str]:
    """A rejected attempt that the judge graded once."""
    with stored(service, {_REJECTED: verdict_of_call("rejected")}):
        yield _REJECTED


def _box(each: Locator) -> dict[str, float]:
    box = each.bounding_box()
    assert box is not None
    return {"left": box["x"], "top": box["y"], "right": box["x"] + box["width"], "bottom": box["y"] + box["height"]}


def _tab(page: Page, name: str) -> Locator:
    return page.get_by_role("tab", name=name)


def test_the_code_with_its_buttons_is_beside_the_text(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, viewport=WIDE)
    text, code = _box(page.locator("#statement")), _box(page.locator(".editor"))
    assert text["right"] <= code["left"]
    assert code["bottom"] - code["top"] >= 300
    assert _box(page.get_by_role("button", name="Submit"))["bottom"] <= WIDE["height"]
    assert page.evaluate("document.querySelector('#statement').scrollHeight") > WIDE["height"]


def test_the_border_moves_by_keys_and_stays_for_the_next_visit(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, viewport=WIDE)
    border = page.get_by_role("separator", name="Width of the left side")
    before = _box(page.locator("#statement"))["right"]
    border.focus()
    for key, value in [("ArrowRight", "50"), ("End", "75"), ("Home", "25"), ("ArrowLeft", "25"), ("Enter", "48")]:
        page.keyboard.press(key)
        expect(border).to_have_attribute("aria-valuenow", value)
    page.keyboard.press("PageUp")
    expect(border).to_have_attribute("aria-valuetext", "58 % for the text")
    after = _box(page.locator("#statement"))["right"]
    assert after > before + 100
    page.reload()
    expect(border).to_have_attribute("aria-valuenow", "58")
    assert _box(page.locator("#statement"))["right"] == pytest.approx(after, abs=2)


def test_the_border_is_dragged(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, viewport=WIDE)
    border = page.get_by_role("separator")
    at = _box(border)
    page.mouse.move((at["left"] + at["right"]) / 2, 400)
    page.mouse.down()
    page.mouse.move(500, 400, steps=4)
    page.mouse.up()
    assert _box(border)["left"] == pytest.approx(500, abs=25)
    page.reload()
    assert _box(border)["left"] == pytest.approx(500, abs=25)


@pytest.mark.parametrize(
    ("name", "stays", "goes"), [("text", ".reading", ".workbench"), ("code", ".editor", ".reading")]
)
def test_either_side_has_the_whole_width_and_gives_it_back(
    open_page: OpenPage, name: str, stays: str, goes: str
) -> None:
    page = open_page(PROBLEM, viewport=WIDE)
    button = page.get_by_role("button", name=f"Enlarge the {name}")
    before = _box(page.locator(stays))
    button.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.locator(goes)).to_be_hidden()
    enlarged = _box(page.locator(stays))
    assert enlarged["right"] - enlarged["left"] > 1.7 * (before["right"] - before["left"])
    button.press("Enter")
    expect(page.locator(goes)).to_be_visible()
    assert _box(page.locator(stays)) == before


def test_tabs_are_chosen_by_keys_and_the_address_keeps_the_choice(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, viewport=WIDE)
    expect(_tab(page, "Statement")).to_have_attribute("aria-selected", "true")
    _tab(page, "Statement").focus()
    for name in [*PARTS[1:], "Statement"]:
        page.keyboard.press("ArrowRight")
        expect(_tab(page, name)).to_be_focused()
        expect(_tab(page, name)).to_have_attribute("aria-selected", "true")
        expect(page.get_by_role("tabpanel")).to_have_count(1)
        expect(page.get_by_role("tabpanel", name=name)).to_be_visible()
    page.keyboard.press("End")
    expect(_tab(page, "Editorial")).to_be_focused()
    assert page.url.endswith("#editorial")
    page.keyboard.press("Home")
    expect(_tab(page, "Statement")).to_be_focused()
    assert page.url.endswith(PROBLEM)
    page.keyboard.press("ArrowLeft")
    page.reload()
    expect(_tab(page, "Editorial")).to_have_attribute("aria-selected", "true")


def test_an_address_leads_to_a_section_of_the_statement(open_page: OpenPage) -> None:
    for viewport in (WIDE, PHONE):
        page = open_page(f"{PROBLEM}#s-problem", viewport=viewport)
        expect(page.locator("#s-problem")).to_be_in_viewport()
        turn_to(page, "Hints")
        page.goto(f"{PROBLEM}#grading")
        expect(page.locator("#grading")).to_be_in_viewport()
        expect(_tab(page, "Statement")).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize("script", [True, False])
def test_how_it_is_graded_follows_the_task_with_the_exact_bounds_one_click_away(
    open_page: OpenPage, script: bool
) -> None:
    page = open_page(f"{PROBLEM}#grading", viewport=PHONE, java_script_enabled=script)
    grading = page.get_by_role("region", name="Grading")
    expect(grading.get_by_role("columnheader")).to_have_text(["Graded", "Points", "You pass if"])
    expect(grading.get_by_role("row").nth(1)).to_contain_text("60")
    box = _box(grading.get_by_role("table"))
    assert box["left"] >= 0
    assert box["right"] <= PHONE["width"]
    bound = grading.get_by_text("structure, shape and dtype are the reference's")
    expect(bound).to_be_hidden()
    grading.get_by_text("Show the exact bounds").click()
    expect(bound).to_be_visible()


@pytest.mark.parametrize("script", [True, False])
def test_the_task_comes_first_and_its_background_is_one_click_away(open_page: OpenPage, script: bool) -> None:
    page = open_page(PROBLEM, viewport=WIDE, java_script_enabled=script)
    expect(page.locator("#s-problem")).to_be_in_viewport()
    expect(page.locator("#s-pitfalls")).to_be_hidden()
    page.get_by_role("navigation", name="Sections of the statement").get_by_role("link", name="Pitfalls").click()
    expect(page.locator("#s-pitfalls")).to_be_in_viewport()
    expect(page.locator("summary", has_text="Pitfalls")).to_be_in_viewport()


def test_the_idea_and_the_pitfalls_open_one_by_one_by_keyboard(open_page: OpenPage) -> None:
    page = open_page("/problems/psum_scatter_mean", viewport=WIDE)
    expect(page.locator("#s-why-this-matters")).to_be_visible()
    expect(page.locator("#s-pitfalls")).to_be_hidden()
    page.locator("summary", has=page.get_by_role("heading", name="The idea")).press("Enter")
    expect(page.locator("#s-the-idea")).to_be_visible()
    expect(page.locator("#s-pitfalls")).to_be_hidden()


def test_a_verdict_shows_the_pitfall_that_the_attempt_met_and_the_statement_marks_it(
    open_page: OpenPage, service: Service
) -> None:
    mistake = CHECKOUT / "problems/fsdp_step/submissions/rejected/wrong_value/divided_by_shards.py"
    met = " ".join((ast.get_docstring(ast.parse(mistake.read_text())) or "").split())
    with stored(service, {_MISTAKEN: verdict_of_call("rejected").model_copy(update={"misconception": met})}):
        page = open_page(PROBLEM, viewport=WIDE)
        note = page.get_by_text("Your last attempt met this")
        grade_as(page, _MISTAKEN)
        write(page, "# wrong")
        page.get_by_role("button", name="Submit").click()
        verdict = await_verdict(page, "rejected")
        expect(verdict.locator(".pitfall")).to_contain_text("Correcting for the number of shards.")
        assert violations(page) == []
        verdict.get_by_role("link", name="All pitfalls of this problem").click()
        expect(note).to_be_in_viewport()
        expect(page.get_by_role("listitem").filter(has=note)).to_contain_text("Correcting for the number of shards.")
        assert violations(page) == []
        page.goto(f"/attempts/{_MISTAKEN}")
        expect(page.locator(".pitfall")).to_contain_text("Correcting for the number of shards.")
        page.goto(PROBLEM)
        expect(note).to_have_count(1)  # of the last verdict
        with stored(service, {_RIGHT: verdict_of_call("accepted")}):
            grade_as(page, _RIGHT)
            write(page, "# right")
            page.get_by_role("button", name="Submit").click()
            expect(page.locator("section.verdict[data-status=accepted]")).to_be_visible()
            expect(note).to_have_count(0)


def test_without_script_the_parts_follow_each_other(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, viewport=WIDE, java_script_enabled=False)
    links = page.get_by_role("navigation", name="Parts of this problem")
    for name in PARTS:
        links.get_by_role("link", name=name).click()
        expect(page.locator(f"#{name.lower()}")).to_be_in_viewport()
        expect(page.get_by_label("Your solution, Python")).to_be_in_viewport()


def test_on_a_phone_the_editor_begins_on_the_first_screen(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, viewport=PHONE)
    expect(page.locator("#statement")).to_be_visible()
    expect(page.locator(".editor")).to_be_hidden()
    turn_to(page, "Code")
    box = _box(page.locator(".editor"))
    assert 0 < box["top"] < PHONE["height"] / 2
    assert _box(page.get_by_role("button", name="Submit"))["bottom"] <= PHONE["height"]
    page.reload()
    expect(editor(page)).to_be_visible()
    assert 0 < _box(page.locator(".editor"))["top"] < PHONE["height"]


@pytest.mark.parametrize("part", ["hints", "history"])
def test_a_link_to_a_part_moves_the_focus_to_its_heading_and_draws_no_ring_around_the_part(
    open_page: OpenPage, part: str
) -> None:
    page = open_page(f"{PROBLEM}#{part}", viewport=WIDE)
    panel = page.locator(f"#{part}")
    expect(panel).to_be_visible()
    expect(page.locator(".view:focus-visible")).to_have_count(0)
    turn_to(page, "Statement")
    page.evaluate("(hash) => { location.hash = hash; }", part)
    expect(panel.get_by_role("heading").first).to_be_focused()
    # The Tab key reaches the part itself, which it can then scroll.
    _tab(page, {"hints": "Hints", "history": "History"}[part]).focus()
    for _ in range(4):
        if page.locator(".view:focus").count():
            break
        page.keyboard.press("Tab")
    expect(panel).to_be_focused()


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_verdict_takes_the_place_of_the_text_and_the_focus(
    open_page: OpenPage, rejected: str, viewport: dict[str, int]
) -> None:
    page = open_page(PROBLEM, viewport=viewport)
    grade_as(page, rejected)
    if viewport is PHONE:
        turn_to(page, "Code")
    write(page, "# wrong")
    page.get_by_role("button", name="Submit").click()
    headline = await_verdict(page, "rejected").get_by_role("heading", level=2)
    expect(headline).to_be_focused()
    expect(headline).to_be_in_viewport()
    expect(_tab(page, "Verdict")).to_contain_text("rejected")
    expect(_tab(page, "Verdict")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#statement")).to_be_hidden()
    expect(page.locator(".editor")).to_be_visible(visible=viewport is WIDE)


def test_a_verdict_takes_no_focus_from_someone_who_types(open_page: OpenPage, rejected: str) -> None:
    page = open_page(PROBLEM, viewport=PHONE)
    grade_as(page, rejected)
    turn_to(page, "Code")
    write(page, "# wrong")
    held: list[Route] = []
    page.route("**/attempts/*/verdict", lambda route: held.append(route))
    with page.expect_request("**/attempts/*/verdict"):
        page.get_by_role("button", name="Run").click()
    editor(page).focus()
    page.keyboard.type("# and")
    held[0].continue_()
    link = page.get_by_role("link", name="See the verdict")
    expect(link).to_be_visible()
    expect(editor(page)).to_be_focused()
    link.click()
    await_verdict(page, "rejected")


def test_on_a_phone_all_tabs_fit_beside_each_other(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, viewport=PHONE)
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_count(6)
    page.locator(".view-mark").evaluate_all("(all) => all.forEach((each) => { each.textContent = '✓'; })")
    for each in tabs.all():
        expect(each).to_be_in_viewport(ratio=1)
