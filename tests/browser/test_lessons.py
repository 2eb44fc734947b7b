"""A lesson is read without a script, with the keyboard, on a phone and on paper."""

import re

import pytest
from playwright.sync_api import expect

from app.lessons.reading import Lessons
from tests.browser.workbench import OpenPage
from tests.lessons.write_claims import LESSONS

LESSON = "/lessons/meshes-and-specs"
# The service of these tests has `psum_scatter_mean`, to which this lesson leads.
WITH_A_SERVED_PROBLEM = "/lessons/four-collectives"
ANSWERS = "Show the answer"


def test_a_guest_reads_a_lesson_without_a_script_and_without_a_mouse(open_page: OpenPage) -> None:
    page = open_page("/lessons", anonymous=True, java_script_enabled=False)
    page.get_by_role("link", name="Meshes and specs").press("Enter")
    expect(page).to_have_url(f"{page.url.split('/lessons')[0]}{LESSON}")
    first = page.locator(".question").first
    expect(first.get_by_text("cuts out its own block")).to_be_hidden()
    first.get_by_text(ANSWERS).press("Enter")
    expect(first.get_by_text("cuts out its own block")).to_be_visible()


def test_a_guest_answers_the_questions_without_a_script_and_without_a_mouse(open_page: OpenPage) -> None:
    page = open_page(LESSON, anonymous=True, java_script_enabled=False)
    first = page.get_by_role("region", name="Question 1")
    first.get_by_label("Your answer").fill("1")
    first.get_by_label("Your answer").press("Enter")
    expect(first.get_by_role("status")).to_contain_text("This is not the answer.")
    expect(first).to_be_in_viewport()
    first.get_by_label("Your answer").fill("0")
    first.get_by_role("button", name="Check").press("Enter")
    expect(first.get_by_role("status")).to_have_text("That is right.")
    expect(first.get_by_text("cuts out its own block")).to_be_visible()
    third = page.get_by_role("region", name="Question 3")
    third.get_by_label("Your answer").fill("P('data')")
    third.get_by_label("Your answer").press("Enter")
    for each in (first, third):
        expect(each.get_by_role("status")).to_have_text("That is right.")


def test_a_choice_is_answered_with_the_keyboard(open_page: OpenPage) -> None:
    page = open_page(WITH_A_SERVED_PROBLEM, anonymous=True, java_script_enabled=False)
    second = page.get_by_role("region", name="Question 2")
    second.get_by_label("all_gather").press("ArrowDown")
    expect(second.get_by_label("all_reduce")).to_be_checked()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(second.get_by_role("status")).to_have_text("That is right.")
    expect(second.get_by_label("reduce_scatter")).to_be_checked()


def test_a_lesson_leads_to_a_problem_without_a_script_and_without_a_mouse(open_page: OpenPage) -> None:
    page = open_page(WITH_A_SERVED_PROBLEM, anonymous=True, java_script_enabled=False)
    page.get_by_role("region", name="Now solve").get_by_role("link").first.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert "/problems/" in page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_follow_the_theme(open_page: OpenPage, scheme: str) -> None:
    page = open_page(LESSON, color_scheme=scheme)
    colours = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.querySelector('.drawn text.mono')).fill]"
    )
    assert colours[0] == colours[1]
    assert page.get_by_role("img", name="A mesh of two axes").count() == 1


@pytest.mark.parametrize("path", [f"/lessons/{each.slug}" for each in Lessons.load(LESSONS).all()])
def test_text_in_figures_can_be_read_on_a_phone(open_page: OpenPage, path: str) -> None:
    """At least 9 CSS pixels after scaling."""
    page = open_page(path, viewport={"width": 360, "height": 740})
    sizes = page.evaluate(
        """[...document.querySelectorAll('.drawn text')].filter((each) => each.checkVisibility()).map((each) =>
            parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a)"""
    )
    assert len(sizes) > 10
    assert min(sizes) >= 9


def test_steps_are_gone_through_with_the_arrow_keys_and_without_a_script(open_page: OpenPage) -> None:
    page = open_page("/lessons/dp-to-fsdp", anonymous=True, java_script_enabled=False)
    steps = page.get_by_role("group", name="One weight in a step")
    shown = steps.get_by_role("figure")
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text("Rest:")
    steps.get_by_role("radio", name="1 Rest").focus()
    for name in ("Gather:", "Compute:", "Free:", "Reduce:", "Update:"):
        page.keyboard.press("ArrowRight")
        expect(shown).to_contain_text(name)
    steps.get_by_text("2 Gather").click()
    expect(shown).to_contain_text("17,920 bytes by all_gather")
    expect(steps.get_by_role("img")).to_have_accessible_name(re.compile("^One weight in a step of FSDP: gather"))
    page.emulate_media(media="print")
    expect(shown).to_have_count(6)


def test_the_answers_are_printed(open_page: OpenPage) -> None:
    page = open_page(LESSON, viewport={"width": 643, "height": 972}, color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.get_by_text("cuts out its own block")).to_be_visible()
    for hidden in (".masthead", ".footer", ".toc", ".measured"):
        expect(page.locator(hidden)).to_be_hidden()
    colours = page.evaluate(
        "(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))"
    )
    assert colours == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    cut = "[...document.querySelectorAll('pre')].filter((each) => each.scrollWidth > each.clientWidth + 1).length"
    assert page.evaluate(cut) == 0


@pytest.mark.parametrize("anonymous", [True, False])
def test_the_links_of_every_page_fit_in_one_line(open_page: OpenPage, anonymous: bool) -> None:
    page = open_page("/lessons", anonymous=anonymous, viewport={"width": 1366, "height": 768})
    for part in (".masthead", ".footer"):
        tops = page.evaluate(
            f"[...document.querySelectorAll('{part} .frame > *')].map((each) => each.getBoundingClientRect())"
            ".map((box) => box.top + box.height / 2)"
        )
        assert max(tops) - min(tops) < 8, part
