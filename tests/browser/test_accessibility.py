"""axe reports nothing, in light and dark, and no page is wider than a small phone."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, StorageState, expect

from tests.browser.accessibility import ABOUT_COLOUR, violations
from tests.browser.browser import Service
from tests.browser.workbench import PROBLEM, OpenPage, await_verdict, write

ReadPage = Callable[..., Page]
SCHEMES = ["light", "dark"]
ACCOUNT = ["/account", "/account/tokens", "/account/invitations", "/account/delete", "/sign-in/again"]
# test_lessons.py visits each lesson.
PATHS = [
    "/problems",
    "/problems?q=nothing",
    PROBLEM,
    "/progress",
    "/interviews",
    "/tracks/the-training-loop/completion",
    "/attempts",
    "/sign-in",
    "/help/rest",
    *ACCOUNT,
    f"{PROBLEM}/report",
    f"{PROBLEM}/give-up",
    "/teach",
    "/admin",
    "/reports",
    "/authoring",
    "/authoring/fsdp_step",
    "/people",
    "/insight",
    "/courses",
    f"{PROBLEM}/insight",
    f"{PROBLEM}/people",
    f"{PROBLEM}/similarity",
    "/lti/platforms",
    "/service",
    "/audit",
    "/drafts/replaced",
    "/lessons",
    "/lessons/meshes-and-specs?q1=3&q2=2&q3=P(data)",
    "/lessons/four-collectives?q2=1",
    "/calculators",
    "/comparison",
    "/comparison/pipeline",
    "/calculators/state",
    "/calculators/communication-time",
    "/explore",
]


@pytest.fixture(scope="module")
def tab(browser: Browser, service: Service, signed_in: StorageState) -> Iterator[Page]:
    """One tab for all pages that are only read. A context for each of them would load every script and style again."""
    context = browser.new_context(base_url=service.url, reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture
def read_page(tab: Page, signed_in: StorageState, complaints: list[str]) -> Iterator[ReadPage]:
    """Opens a path in the tab, with the cookies of a browser that has just signed in."""

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    def note_error(error: object) -> None:
        complaints.append(str(error))

    def read(path: str, *, width: int = 1280) -> Page:
        tab.context.clear_cookies()
        tab.context.add_cookies(signed_in["cookies"])
        tab.emulate_media(color_scheme="light")
        tab.set_viewport_size({"width": width, "height": 740})
        tab.goto(path)
        return tab

    tab.on("console", note)
    tab.on("pageerror", note_error)
    yield read
    tab.remove_listener("console", note)
    tab.remove_listener("pageerror", note_error)
    assert complaints == []


@pytest.mark.parametrize("path", PATHS)
def test_a_page_has_no_violation(read_page: ReadPage, path: str) -> None:
    """The dark page differs in its colours alone, so only the rules on colour are applied to it."""
    page = read_page(path)
    light = violations(page)
    page.emulate_media(color_scheme="dark")
    assert (light, violations(page, runOnly=ABOUT_COLOUR)) == ([], [])
    page.set_viewport_size({"width": 360, "height": 740})
    content, window = _widths(page)
    assert content <= window


@pytest.mark.parametrize("path", [PROBLEM, "/problems/psum_scatter_mean", "/help/rest"])
def test_a_page_has_no_violation_on_a_small_phone(read_page: ReadPage, path: str) -> None:
    page = read_page(path, width=360)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert violations(page) == []


@pytest.mark.parametrize("width", [1440, 360])
@pytest.mark.parametrize("part", ["hints", "verdict", "history", "editorial", "workbench"])
def test_a_part_of_a_problem_has_no_violation(open_page: OpenPage, part: str, width: int) -> None:
    page = open_page(f"{PROBLEM}#{part}", viewport={"width": width, "height": 740})
    expect(page.locator(f"#{part}")).to_be_visible()
    assert violations(page) == []
    content, window = _widths(page)
    assert content <= window


@pytest.fixture(scope="module")
def rejected_path() -> dict[str, str]:
    """Filled by the first test that needs a verdict, so that one attempt serves them all."""
    return {}


def _open_verdict(open_page: OpenPage, known: dict[str, str], source: str, **options: object) -> Page:
    if "path" not in known:
        page = open_page(PROBLEM)
        write(page, source)
        page.get_by_role("button", name="Submit").click()
        link = await_verdict(page, "rejected").get_by_role("link", name="Open this attempt's page")
        known["path"] = str(link.get_attribute("href"))
    page = open_page(known["path"], **options)
    page.evaluate("document.querySelectorAll('section.verdict details').forEach((each) => { each.open = true; })")
    return page


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_verdict_has_no_violation(
    open_page: OpenPage, rejected_path: dict[str, str], wrong_source: str, scheme: str
) -> None:
    page = _open_verdict(open_page, rejected_path, wrong_source, color_scheme=scheme)
    expect(page.locator("section.verdict")).to_contain_text("rejected")
    assert violations(page) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_front_page_has_no_violation(open_page: OpenPage, scheme: str) -> None:
    page = open_page("/", color_scheme=scheme, anonymous=True)
    page.get_by_text("Theme", exact=True).click()
    assert violations(page) == []


def test_the_front_page_fits_360_pixels(open_page: OpenPage) -> None:
    content, window = _widths(open_page("/", anonymous=True, viewport={"width": 360, "height": 740}))
    assert content <= window


def _widths(page: Page) -> Iterator[int]:
    yield int(page.evaluate("document.documentElement.scrollWidth"))
    yield int(page.evaluate("window.innerWidth"))


def test_a_verdict_fits_360_pixels(open_page: OpenPage, rejected_path: dict[str, str], wrong_source: str) -> None:
    page = _open_verdict(open_page, rejected_path, wrong_source, viewport={"width": 360, "height": 740})
    content, window = _widths(page)
    assert content <= window
