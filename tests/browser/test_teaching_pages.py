"""Pages of instructors, by keyboard and without scripts: the side bar, comments on lines, confirmations and pickers."""

import re
import sqlite3
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.app.program_verdict import program_verdict
from tests.browser.browser import Service
from tests.browser.stored_attempts import store_attempt
from tests.browser.workbench import OpenPage

STUDENT, ATTEMPT = "5" * 32, "6" * 32
PATH = f"/people/{STUDENT}/attempts/{ATTEMPT}"


@pytest.fixture(scope="module", autouse=True)
def student(service: Service) -> Iterator[None]:
    """A student with one attempt, of five lines."""
    with sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=30) as connection:
        row = (STUDENT, "stu", "student", "2026-01-05 09:00:00.000000", 1)
        connection.execute("INSERT INTO users (id, name, role, created_at, in_rankings) VALUES (?, ?, ?, ?, ?)", row)
        store_attempt(connection, STUDENT, ATTEMPT, program_verdict("fsdp_step"))
        connection.execute(
            "UPDATE attempts SET source = ? WHERE id = ?", ("import jax\n\na = 1\nb = 2\nc = 3\n", ATTEMPT)
        )
    connection.close()
    yield
    with sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=30) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("DELETE FROM users WHERE id = ?", (STUDENT,))
    connection.close()


def is_below(page: Page, line: int) -> bool:
    """Whether the form of a comment is right below this line of the source."""
    return bool(
        page.evaluate(
            """line => {
              const above = document.getElementById("comment").previousElementSibling;
              const numbers = above.querySelectorAll(".line-number");
              return numbers[numbers.length - 1]?.dataset.line === String(line);
            }""",
            line,
        )
    )


def test_a_click_on_a_line_puts_the_form_below_it(open_page: OpenPage) -> None:
    page = open_page(PATH)
    page.get_by_text("b = 2").click()
    assert is_below(page, 4)
    expect(page.get_by_label("Comment", exact=True)).to_be_focused()
    page.get_by_label("Comment", exact=True).fill("Which one?")
    # Another line: what was typed comes along, and the source is whole above and below.
    page.get_by_role("link", name="Comment on line 1", exact=True).click()
    assert is_below(page, 1)
    expect(page.get_by_role("region", name="Lines 2 to 5")).to_contain_text("c = 3")
    page.get_by_role("button", name="Comment", exact=True).click()
    comment = page.get_by_role("article", name="Comment 1 on line 1")
    expect(comment).to_contain_text("Which one?")


def test_a_line_is_chosen_by_keyboard(open_page: OpenPage) -> None:
    page = open_page(PATH)
    page.get_by_role("link", name="Comment on line 1", exact=True).focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert is_below(page, 3)
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Comment on line 3", exact=True)).to_be_focused()
    assert page.locator("a.line-number[tabindex='0']").count() == 1


def test_without_a_script_a_number_leads_to_the_form(open_page: OpenPage) -> None:
    page = open_page(PATH, java_script_enabled=False)
    page.get_by_role("link", name="Comment on line 4", exact=True).click()
    assert page.url.endswith("?line=4#comment")
    expect(page.get_by_label("Line", exact=True)).to_have_value("4")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Line", exact=True)).to_be_focused()


def test_the_side_bar_is_a_list_on_a_phone(open_page: OpenPage) -> None:
    page = open_page("/teach", viewport={"width": 360, "height": 740})
    bar = page.get_by_role("navigation", name="Teach")
    expect(bar.get_by_role("link", name="People")).to_be_hidden()
    bar.get_by_text("Teach: Overview").focus()
    page.keyboard.press("Enter")
    bar.get_by_role("link", name="People").click()
    expect(page.get_by_role("heading", name="People", level=1)).to_be_visible()
    page.set_viewport_size({"width": 1366, "height": 740})
    expect(bar.get_by_role("link", name="People")).to_have_attribute("aria-current", "page")


@pytest.mark.parametrize(
    ("path", "colours"),
    [
        ("reference.py", {"tok-keyword", "tok-string"}),
        ("problem.toml", {"tok-definition"}),
        ("statement.md", {"tok-keyword"}),
    ],
)
def test_a_file_of_a_package_is_edited_in_the_editor(open_page: OpenPage, path: str, colours: set[str]) -> None:
    page = open_page("/authoring/fsdp_step")
    page.get_by_role("link", name=re.compile("^[0-9a-f]{12}$")).first.click()
    page.goto(f"{page.url}/edit?path={path}")
    editor = page.locator(".cm-content")
    expect(editor).to_have_attribute("aria-label", "Text")
    for each in colours:
        expect(page.locator(f".cm-content .{each}").first).to_be_visible()
    editor.focus()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("\nbroken = [\n")
    assert "broken = [" in page.locator("#text").input_value()


def test_a_member_is_removed_in_two_steps_and_added_back(open_page: OpenPage) -> None:
    page = open_page("/courses", java_script_enabled=False)
    page.get_by_label("Name").fill("Undo")
    page.get_by_role("button", name="Create course").click()
    page.get_by_role("link", name="Import a roster").click()
    page.get_by_label("Roster").fill("username\nstu\n")
    page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Import and show the links").click()
    page.get_by_role("link", name="Undo", exact=True).click()
    sure = page.get_by_role("button", name="Yes, remove stu")
    page.get_by_text("Actions for stu", exact=True).click()
    expect(sure).to_be_hidden()
    page.get_by_text("Remove stu", exact=True).click()
    sure.click()
    page.get_by_role("button", name="Add stu back").click()
    expect(page.get_by_role("link", name="stu", exact=True)).to_be_visible()


def test_problems_are_picked_and_put_in_order_by_button_and_by_dragging(open_page: OpenPage) -> None:
    page = open_page("/courses")
    page.get_by_label("Name").fill("Picking")
    page.get_by_role("button", name="Create course").click()
    picker = page.get_by_label("Add a problem")
    for sought in ("fsdp_s", "psum_scatter_mean"):
        picker.fill(sought)
        page.get_by_role("button", name="Add", exact=True).click()
    expect(picker).to_be_focused()
    chosen = page.locator("[data-row] [type=hidden]")
    expect(chosen).to_have_count(2)
    page.locator("button[value=down-1]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("button[value=down-1]")).to_be_focused()
    assert chosen.evaluate_all("found => found.map((each) => each.value)") == ["psum_scatter_mean", "fsdp_step"]
    expect(page.locator("[data-said]")).to_have_text(re.compile("2 of 2$"))
    grip, other = (page.locator("[data-grip]").nth(place) for place in range(2))
    other.scroll_into_view_if_needed()
    grip.hover()
    page.mouse.down()
    box = other.bounding_box()
    assert box is not None
    page.mouse.move(box["x"], box["y"] + box["height"], steps=4)
    page.mouse.up()
    assert chosen.evaluate_all("found => found.map((each) => each.value)") == ["fsdp_step", "psum_scatter_mean"]
    for label, value in (("Name", "Week 1"), ("Opens", "2026-01-12T09:00"), ("Due", "2096-01-12T09:00")):
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_label("points").first.fill("40")
    page.get_by_role("button", name="Create assignment").click()
    points = page.locator("section .items .number")
    expect(points).to_have_text(["40 points", "100 points"])
