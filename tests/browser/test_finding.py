"""Scripts on the pages that list problems: filters as you type, and the theme."""

import re

from playwright.sync_api import expect

from tests.browser.workbench import OpenPage


def test_typing_filters_the_list_and_the_address(open_page: OpenPage) -> None:
    page = open_page("/problems")
    rows = page.locator("[data-row]:visible")
    expect(rows).to_have_count(2)
    search = page.get_by_role("searchbox", name="Search")
    search.press_sequentially("Averaged SHARD")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Averaged gradient shards")
    expect(page.locator("[data-found]")).to_have_text("1 of 2 problems.")
    expect(page).to_have_url(re.compile(r"/problems\?q=Averaged\+SHARD$"))
    in_texts = page.get_by_role("link", name="Search statements and lessons for these words")
    expect(in_texts).to_have_attribute("href", re.compile(r"/search\?q=Averaged\+SHARD$"))
    page.reload()
    expect(search).to_have_value("Averaged SHARD")
    expect(rows).to_have_count(1)
    page.get_by_label("Difficulty").select_option("easy")
    expect(page.get_by_text("No problem matches")).to_be_visible()
    page.get_by_role("link", name="Show all problems").click()
    expect(rows).to_have_count(2)
    expect(search).to_be_focused()
    expect(in_texts).to_be_hidden()
    expect(page).to_have_url(re.compile(r"/problems$"))


def test_a_theme_is_chosen_without_a_reload_and_stays(open_page: OpenPage) -> None:
    page = open_page("/problems", anonymous=True, color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("searchbox", name="Search").fill("shard")
    page.get_by_text("Theme", exact=True).click()
    with page.expect_response("**/theme"):
        page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(background)
    assert dark != light
    expect(page.get_by_role("searchbox", name="Search")).to_have_value("shard")
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Dark")).to_be_hidden()
    page.goto("/sign-in")
    assert page.evaluate(background) == dark
