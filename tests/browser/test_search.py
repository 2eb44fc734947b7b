"""Ctrl-K: the search over every page, by keyboard, and without a script as a page."""

from playwright.sync_api import expect

from tests.browser.workbench import OpenPage, reload_until


def test_ctrl_k_finds_and_opens_a_page_and_escape_returns_the_focus(open_page: OpenPage) -> None:
    page = open_page("/problems")
    link = page.get_by_role("link", name="Search", exact=True)
    link.focus()
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Search")
    expect(box).to_be_focused()
    expect(page.locator(".palette").get_by_role("option", selected=True)).to_have_count(1)
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(link).to_be_focused()
    page.keyboard.press("Control+k")
    expect(box).to_be_focused()
    page.keyboard.type("fsdp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/problems/fsdp_step")


def test_arrows_choose_among_the_results(open_page: OpenPage) -> None:
    page = open_page("/lessons")
    page.get_by_role("link", name="Search", exact=True).click()
    expect(page.get_by_role("combobox", name="Search")).to_be_focused()
    page.keyboard.type("wrong")
    chosen = page.get_by_role("option", selected=True)
    expect(chosen).to_contain_text("Wrong")
    first = chosen.text_content()
    page.keyboard.press("ArrowDown")
    expect(chosen).not_to_have_text(first or "")
    expect(page.get_by_role("combobox", name="Search")).to_have_attribute(
        "aria-activedescendant", chosen.get_attribute("id") or ""
    )
    page.keyboard.press("ArrowUp")
    expect(chosen).to_have_text(first or "")


def test_it_opens_over_the_editor_and_gives_the_focus_back(open_page: OpenPage) -> None:
    page = open_page("/problems/fsdp_step")
    editor = page.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search")).to_be_focused()
    page.keyboard.press("Escape")
    expect(editor).to_be_focused()


def test_it_presses_the_buttons_of_the_header(open_page: OpenPage) -> None:
    page = open_page("/lessons", anonymous=True)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search")).to_be_focused()
    page.keyboard.type("dark theme")
    expect(page.get_by_role("option", selected=True)).to_have_text("Theme: dark")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Search")).to_be_hidden()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_without_a_script_the_button_leads_to_a_page(open_page: OpenPage) -> None:
    page = open_page("/problems", java_script_enabled=False)
    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_role("searchbox", name="Search for").fill("password")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="Password", exact=True).click()
    page.wait_for_url("**/account#password")


def test_the_word_of_an_error_leads_to_the_section_that_explains_it(open_page: OpenPage) -> None:
    page = open_page("/problems?q=check_vma", java_script_enabled=False)
    page.get_by_role("link", name="Search statements and lessons for these words").click()
    in_texts = page.get_by_role("region", name="In texts")
    # The server indexes its texts after its start.
    reload_until(page, in_texts)
    section = in_texts.get_by_role("listitem").filter(has_text="Lesson: Who divides").first
    expect(section.locator("mark").first).to_have_text("check_vma")
    address = section.get_by_role("link").get_attribute("href") or ""
    page = open_page("/problems")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search")).to_be_focused()
    page.keyboard.type("check_vma")
    option = page.get_by_role("group", name="In texts").get_by_role("option").and_(page.locator(f'[href="{address}"]'))
    expect(option.locator("mark").first).to_have_text("check_vma")
    option.click()
    page.wait_for_url(f"**{address}")
