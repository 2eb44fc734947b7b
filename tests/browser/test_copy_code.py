"""A block of code is copied with one button, by pointer and by keyboard, and nothing moves when the button comes."""

from playwright.sync_api import expect

from tests.browser.workbench import OpenPage


def test_a_block_is_copied(open_page: OpenPage) -> None:
    page = open_page("/", anonymous=True)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    block = page.locator("main pre").first
    text = block.inner_text()
    height = page.evaluate("document.documentElement.scrollHeight")
    block.hover()
    button = page.locator(".copy-code button")
    expect(button).to_be_visible()
    assert page.evaluate("document.documentElement.scrollHeight") == height
    button.press("Enter")
    expect(button).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == text.removesuffix("\n")
    block.hover()
    expect(button).to_have_count(1)


def test_the_program_of_a_lesson_is_copied_as_it_was_changed(open_page: OpenPage) -> None:
    page = open_page("/lessons/meshes-and-specs", anonymous=True)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    program = page.get_by_role("region", name="Program 1", exact=True)
    text = program.locator("textarea").input_value()
    program.locator(".cell pre").hover()
    copy = program.locator(".cell .copy-code button")
    copy.click()
    expect(copy).to_have_text("Copied")
    expect(program.locator(".cell pre")).to_be_visible()  # the click was not one on the code, which would edit it
    assert page.evaluate("navigator.clipboard.readText()") == text.removesuffix("\n")
    program.get_by_role("button", name="Edit").click()
    # The editor is fetched first. It begins at the beginning, so no key of its own is needed, which comes later still.
    editor = program.get_by_role("textbox", name="Program 1, Python")
    expect(editor).to_be_focused()
    page.keyboard.insert_text("# mine ")
    expect(editor).to_contain_text("# mine ")
    # Until then, it still says that the first text was copied.
    expect(copy).to_have_text("Copy")
    copy.press("Enter")
    expect(copy).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("# mine ")
