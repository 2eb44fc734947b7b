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
