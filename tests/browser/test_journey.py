"""The journey and the list below it, with every problem that ships: its size, by keyboard, on a phone and filtered."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import StorageState, expect

from tests.browser.accessibility import violations
from tests.browser.browser import Service, serve
from tests.browser.sessions import sign_in_by_link
from tests.browser.workbench import OpenPage

_STOPS = ".stop a"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serve(tmp_path_factory.mktemp("journey") / "data", all_problems=True, judge="nothing") as running:
        yield running


@pytest.fixture(scope="module")
def signed_in(service: Service) -> StorageState:
    return sign_in_by_link(service)


@pytest.mark.parametrize("anonymous", [True, False])
def test_the_list_of_all_problems_is_short(open_page: OpenPage, anonymous: bool) -> None:
    page = open_page("/problems", anonymous=anonymous, viewport={"width": 1440, "height": 900})
    problems = page.locator("[data-stop]:not(.is-lesson)").count()
    expect(page.locator("[data-row]")).to_have_count(problems)
    tracks = page.locator("[data-track]").count()
    assert page.evaluate("document.documentElement.scrollHeight") < 1600 + 40 * (problems + tracks)
    rows = page.locator("[data-row]").evaluate_all("(rows) => rows.map((row) => row.clientHeight)")
    assert max(rows) < 40


def test_the_front_page_is_a_screen_and_a_half(open_page: OpenPage) -> None:
    page = open_page("/", anonymous=True, viewport={"width": 1440, "height": 900})
    assert page.evaluate("document.documentElement.scrollHeight") <= 1350
    picture = page.locator("figure .drawing").last.bounding_box()
    assert picture is not None
    assert picture["y"] + picture["height"] < 900


def test_the_front_page_plays_a_step_and_opens_its_rejected_program(open_page: OpenPage) -> None:
    page = open_page("/", anonymous=True)
    animations = "document.getAnimations().filter((each) => each instanceof CSSAnimation)"
    states = f"() => [...new Set({animations}.map((each) => each.playState))]"
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(states) == ["running"]
    page.get_by_text("Pause the animation").click()
    assert page.evaluate(states) == ["paused"]
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(states) == []
    expect(
        page.get_by_role("listitem").filter(has_text="Gather: an all_gather makes the weight whole.")
    ).to_be_visible()
    line = page.locator(".example pre").inner_text().strip()
    # Without a script, the editor is a text area, which has all lines at once.
    page = open_page("/", anonymous=True, java_script_enabled=False)
    page.get_by_role("link", name="Fix this program").click()
    expect(page.get_by_role("textbox", name="Your solution, Python")).to_have_value(re.compile(re.escape(line)))


def test_a_stop_is_reached_by_keyboard_and_heard_with_its_state(open_page: OpenPage) -> None:
    page = open_page("/problems")
    page.get_by_role("link", name="Filter and list").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="nnx on one device").first).to_be_focused()
    page.keyboard.press("Tab")
    lesson = page.locator(_STOPS).first
    expect(lesson).to_be_focused()
    expect(lesson.locator("..")).to_contain_text("What JAX sees of your code, lesson")
    # The card of a stop appears with the focus, describes the link, and is hidden by Escape until the focus is back.
    card = lesson.locator("..").get_by_role("tooltip")
    expect(card).to_contain_text("Traced functions, modules as arrays")
    expect(lesson).to_have_accessible_description(re.compile("^Traced functions.* lesson 1 · \\d+ min$"))
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(card).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="Split, change, merge, open").last).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/lessons/one-device")


def test_the_link_past_the_journey_leads_to_the_filter(open_page: OpenPage) -> None:
    page = open_page("/problems")
    page.get_by_role("link", name="Filter and list").press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("searchbox", name="Search")).to_be_focused()


def test_a_row_opens_by_keyboard(open_page: OpenPage) -> None:
    page = open_page("/problems", viewport={"width": 1440, "height": 900})
    row = page.locator("[data-row]", has=page.get_by_role("link", name="A spec for any leaf")).first
    row.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(row).to_contain_text("After Who holds what")
    expect(row.get_by_text("Choose the PartitionSpec of each leaf")).to_be_visible()
    assert violations(page) == []
    page.emulate_media(media="print")
    for each in page.locator(".row-more").all():
        expect(each).to_be_visible()


def test_every_stop_can_be_read_and_touched_on_a_phone(open_page: OpenPage) -> None:
    page = open_page("/problems", anonymous=True, viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    boxes = page.locator(_STOPS).evaluate_all(
        "(links) => links.map((link) => [link.clientHeight, link.scrollWidth - link.clientWidth,"
        " parseFloat(getComputedStyle(link).fontSize)])"
    )
    assert boxes
    assert all(height >= 24 and hidden <= 0 and size >= 14 for height, hidden, size in boxes)
    page.evaluate("document.querySelectorAll('[data-row] details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert violations(page) == []


def test_stops_that_a_filter_leaves_out_fade_where_they_are(open_page: OpenPage) -> None:
    page = open_page("/problems", viewport={"width": 1440, "height": 900})
    search = page.get_by_role("searchbox", name="Search")
    place = "(each) => each.getBoundingClientRect().top + scrollY"
    before = search.evaluate(place)
    search.fill("pipeline")
    left = page.locator(".stop:not(.is-off)")
    found = left.all_inner_texts()
    assert "GPipe forward: microbatches down a pipeline" in " ".join(found)
    assert 1 < len(found) < 10
    assert abs(search.evaluate(place) - before) < 1
    assert violations(page) == []
    same = open_page("/problems?q=pipeline", java_script_enabled=False)
    assert same.locator(".stop:not(.is-off)").all_inner_texts() == found
    # The next visit begins with the same filters, except for the words, and names the track that was open last.
    search.fill("")
    page.get_by_label("Difficulty").select_option("hard")
    hard = left.all_inner_texts()
    left.get_by_role("link").last.click()
    page.wait_for_url("**/problems/*")
    page.goto("/problems")
    expect(page.get_by_label("Difficulty")).to_have_value("hard")
    assert left.all_inner_texts() == hard
    expect(page.get_by_role("link", name=re.compile("^Filtered: "))).to_be_visible()
    expect(page.get_by_role("link", name="Last: 15. Repair")).to_have_attribute("href", "#line-repair")
    page.get_by_role("link", name="Clear").click()
    expect(page.locator(".stop.is-off")).to_have_count(0)
    page.goto("/problems")
    expect(page.locator(".stop.is-off")).to_have_count(0)
