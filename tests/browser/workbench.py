"""Actions of tests on the problem page, in the words of a reader."""

import re
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, Route

OpenPage = Callable[..., Page]
PROBLEM = "/problems/fsdp_step"
# The first grading after a start waits until the reference outputs are computed.
VERDICT_TIMEOUT_MS = 180_000


def editor(page: Page) -> Locator:
    """The script's editor. It has the same name as the text area that it replaces, so the name alone is ambiguous."""
    return page.locator(".cm-content").and_(page.get_by_role("textbox", name="Your solution, Python"))


def write(page: Page, source: str, *, offline: bool = False) -> None:
    """Replace the editor's text, as a paste does, once its keys have loaded. Offline, they never load."""
    editor(page).focus()
    if not offline:
        page.locator(".cm-foldGutter").wait_for(state="attached")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)


class Traffic:
    """What a page has loaded, by address: the bytes of its answers with their headers, as they were sent."""

    def __init__(self, page: Page) -> None:
        self._addresses: dict[str, str] = {}
        self._bytes: dict[str, int] = {}
        self._finished: list[tuple[str, int]] = []
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", self._begin)
        session.on("Network.loadingFinished", self._end)

    def _begin(self, event: dict[str, Any]) -> None:
        self._addresses[event["requestId"]] = event["request"]["url"]

    def _end(self, event: dict[str, Any]) -> None:
        self._finished.append((self._addresses.get(event["requestId"], ""), int(event["encodedDataLength"])))

    def take(self) -> int:
        """The bytes of everything that was loaded since the last call. What came from the cache counts in full."""
        found, self._finished = self._finished, []
        for address, size in found:
            self._bytes[address] = max(size, self._bytes.get(address, 0))
        return sum(self._bytes[address] for address in dict(found))


def open_settings(page: Page) -> Locator:
    """Open the menu of the editor, which an icon stands for on a bar. Returns it."""
    menu = page.locator("[data-editor-menu]")
    menu.locator("summary").click()
    return menu


def turn_to(page: Page, name: str) -> Locator:
    """Select a tab. Returns its part of the page."""
    page.get_by_role("tab", name=name).click()
    return page.get_by_role("tabpanel", name=name)


def reload_until(page: Page, shown: Locator) -> None:
    """Reload the page until it shows this, which is drawn or graded meanwhile."""
    deadline = time.monotonic() + VERDICT_TIMEOUT_MS / 1000
    while not shown.count():
        assert time.monotonic() < deadline, page.locator("body").inner_text()
        page.wait_for_timeout(500)
        page.reload()


def grade_as(page: Page, attempt_id: str) -> list[str]:
    """Grade whatever the page sends from now on at once, as this stored attempt.

    Returns what was sent: each time, `attempts` or `runs`.
    """
    sent: list[str] = []

    def accept(route: Route) -> None:
        sent.append(route.request.url.rpartition("/")[2])
        route.fulfill(status=202, json={"id": attempt_id, "status": "queued", "phase": None, "queue": None})

    page.route(re.compile(r"/api/v1/problems/\w+/(attempts|runs)$"), accept)
    return sent


def await_verdict(page: Page, status: str) -> Locator:
    verdict = page.locator("section.verdict")
    verdict.wait_for(timeout=VERDICT_TIMEOUT_MS)
    assert status in verdict.get_by_role("heading", level=2).inner_text(), verdict.inner_text()
    return verdict


def progress(page: Page) -> Locator:
    """The line that shows the progress of grading. The notice of a starting server also has the role status."""
    return page.locator("[data-phase]")


def lines_in_sight(page: Page) -> float:
    """How many lines of the first editor fit into its part of the window."""
    page.locator(".cm-line").first.wait_for()
    lines: float = page.evaluate(
        """() => {
          const root = document.querySelector('[data-editor]').shadowRoot;
          const style = getComputedStyle(root.querySelector('.cm-content'));
          const box = root.querySelector('.cm-scroller').getBoundingClientRect();
          const height = Math.min(box.bottom, innerHeight) - box.top - parseFloat(style.paddingTop);
          return height / parseFloat(style.lineHeight);
        }"""
    )
    return lines
