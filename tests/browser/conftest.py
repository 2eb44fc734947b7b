"""One real service and one Chromium for each process; each test gets a fresh, signed-in browser context."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    BrowserType,
    ConsoleMessage,
    Page,
    StorageState,
    expect,
    sync_playwright,
)

from tests.browser.browser import CHECKOUT, CHROMIUM, CHROMIUM_ARGUMENTS, Service, serve
from tests.browser.groups import grouped
from tests.browser.sessions import sign_in_by_link
from tests.browser.workbench import OpenPage

# Only a page that is broken takes this long. Playwright's own limit for what is expected, 5 s, is too short for a busy
# machine.
EXPECT_MS = 30_000
PAGE_MS = 60_000
expect.set_options(timeout=EXPECT_MS)
# The Chromium of all browser tests while they run, and what ends it.
_running: list[Browser] = []
_ends = ExitStack()
_GROUPS = grouped(path.stem for path in Path(__file__).parent.glob("test_*.py"))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep the files of a group in one process under `--dist loadgroup`, because each starts its own service.

    This happens as each test is collected, so that tests/slow_tests.py finds the group and gives it no other.
    """
    item.add_marker(pytest.mark.xdist_group(_GROUPS[item.path.stem]))
    item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serve(tmp_path_factory.mktemp("service") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Browser:
    if CHROMIUM is None:
        message = "Chromium is needed for browser tests; on Debian: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    if not _running:
        playwright = _ends.enter_context(sync_playwright())
        _running.append(_launch(playwright.chromium))
        _ends.callback(lambda: _running.pop().close())
    return _running[0]


def _launch(chromium: BrowserType) -> Browser:
    """Start Chromium with the limits of `PAGE_MS` in every context."""
    browser = chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
    make = browser.new_context

    def new_context(**options: Any) -> BrowserContext:
        context = make(**options)
        context.set_default_timeout(PAGE_MS)
        context.set_default_navigation_timeout(PAGE_MS)
        return context

    browser.new_context = new_context  # type: ignore[method-assign]
    return browser


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Close Chromium after the last browser test, because asynchronous tests cannot run while its event loop does."""
    if nextitem is None or nextitem.path.parent != item.path.parent:
        _ends.close()


@pytest.fixture(scope="session")
def signed_in(service: Service) -> StorageState:
    """The cookies of a browser that followed the printed link."""
    return sign_in_by_link(service)


@pytest.fixture
def complaints() -> list[str]:
    """Console errors, including policy violations, of all pages of a test. It must be empty at the end."""
    return []


@pytest.fixture
def open_page(browser: Browser, service: Service, signed_in: StorageState, complaints: list[str]) -> Iterator[OpenPage]:
    """Open a path in a fresh context: `open_page("/", color_scheme="dark")`. The owner is signed in; pass
    `anonymous=True` for no one, or `storage_state` for another account.
    """
    contexts: list[BrowserContext] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    def open_path(
        path: str, *, anonymous: bool = False, storage_state: StorageState | None = None, **options: Any
    ) -> Page:
        state = None if anonymous else storage_state or signed_in
        context = browser.new_context(base_url=service.url, storage_state=state, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path)
        return page

    yield open_path
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def accepted_source() -> str:
    return (CHECKOUT / "problems/fsdp_step/reference.py").read_text()


@pytest.fixture(scope="session")
def wrong_source() -> str:
    return (CHECKOUT / "problems/fsdp_step/submissions/rejected/wrong_value/loss_after_the_update.py").read_text()
