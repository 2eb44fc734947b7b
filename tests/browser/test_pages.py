"""One visit to each page for each of its readers, in which all that holds for every page is looked at (visits.py)."""

import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, StorageState

from app.core.settings import Settings
from app.entry.main import create_app
from tests.app.routes import routes_of
from tests.browser.accessibility import Kinds, violations, violations_of_colour
from tests.browser.browser import Service
from tests.browser.layout_shift import MOST_SHIFT, shift_of
from tests.browser.sample_work import Work, add_work, remove_work
from tests.browser.visited_pages import NO_PAGES, PAGES, VisitedPage, routes_visited
from tests.browser.visits import LAPTOP, WIDE, faults_of
from tests.browser.workbench import PROBLEM, OpenPage
from tests.selection import digest_of, has_changed, is_drawn
from tests.unchanged import ONLY_CHANGED, SERVICE, due

# If nothing changed that a page is made of, a complete run looks at one page in eight, and always at the two with the
# most parts.
_ONE_IN = 8
_ALWAYS = {f"owner {PROBLEM}", "student /attempts/{right}"}
# Lessons are one kind of page: these two have all that a lesson can have. A complete run looks at another one if it
# draws it, or if the lesson or what only lessons are made of changed.
_LESSONS_OF_EACH_KIND = {"lessons/meshes-and-specs", "lessons/dp-to-fsdp"}
_LESSONS_ALONE = (
    *("app/learning/lessons/", "app/core/static/lesson.js", "app/learning/static/lessons.css"),
    *("app/learning/templates/lessons/", "app/learning/templates/macros/lessons.html"),
)


def _is_due(page: VisitedPage) -> bool:
    if page.name in _ALWAYS or is_drawn(digest_of(page.name), _ONE_IN):
        return True
    if page.lesson is None or page.lesson in _LESSONS_OF_EACH_KIND or not os.environ.get(ONLY_CHANGED):
        return due(SERVICE)
    return has_changed(f"{page.lesson}/", *_LESSONS_ALONE)


_VISITED = [each for each in PAGES if _is_due(each)]


@pytest.fixture(scope="module")
def work(service: Service, wrong_source: str, accepted_source: str) -> Iterator[Work]:
    yield add_work(service, wrong_source, accepted_source)
    remove_work(service)


@pytest.fixture(scope="module")
def tabs(browser: Browser, service: Service, work: Work, signed_in: StorageState) -> Iterator[dict[str, Page]]:
    """One tab for each reader. A context for each page would load every script and style again."""
    states = {"guest": None, "student": work.student, "owner": signed_in}
    contexts = {
        reader: browser.new_context(base_url=service.url, storage_state=state, reduced_motion="reduce")
        for reader, state in states.items()
    }
    yield {reader: context.new_page() for reader, context in contexts.items()}
    for context in contexts.values():
        context.close()


@pytest.fixture(scope="module")
def seen() -> Kinds:
    """The kinds of elements on the pages that have been visited."""
    return set()


@pytest.mark.parametrize("visited", _VISITED, ids=lambda visited: visited.name)
def test_a_page_is_accessible_named_and_fits(
    tabs: dict[str, Page], work: Work, seen: Kinds, complaints: list[str], visited: VisitedPage
) -> None:
    page = tabs[visited.reader]

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    def note_error(error: object) -> None:
        complaints.append(str(error))

    page.on("console", note)
    page.on("pageerror", note_error)
    try:
        page.set_viewport_size(LAPTOP)
        page.emulate_media(color_scheme="light")
        answer = page.goto(visited.address.format_map(work.addresses))
        assert answer is not None
        if visited.status != 200:
            complaints[:] = [each for each in complaints if f"status of {visited.status}" not in each]
        faults = [f"status: {answer.status}"] if answer.status != visited.status else []
        if visited.awaited:
            page.locator(visited.awaited).first.wait_for(state="attached")
        # What moves is counted before the visit changes the window.
        if moved := shift_of(page):
            faults.append(moved)
        faults += faults_of(page, visited.parts, figures=visited.has_figures, footer=visited.has_footer, seen=seen)
    finally:
        page.remove_listener("console", note)
        page.remove_listener("pageerror", note_error)
    faults += [f"console: {each}" for each in complaints]
    assert not faults, "\n".join([f"{visited.name}, at {page.url}", *faults])


def test_every_page_is_visited() -> None:
    """A page is any route that a browser can open by its address."""
    pages = {path for method, path in routes_of(create_app(Settings())) if method == "GET" and "/api/" not in path}
    visited = routes_visited(pages)
    assert pages - visited - NO_PAGES == set(), "Add these to tests/browser/visited_pages.py."
    assert NO_PAGES - pages == set(), "There are no such routes."
    assert NO_PAGES & visited == set(), "These are visited after all."


def test_the_open_menu_of_themes_has_no_violation(open_page: OpenPage) -> None:
    page = open_page("/", anonymous=True)
    page.get_by_text("Theme", exact=True).click()
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations_of_colour(page) == []


_BREAKS = {
    "axe in light: [('color-contrast'": "main p { color: #ccc }",
    "axe in dark: [('color-contrast'": "@media (prefers-color-scheme: dark) { main p { color: #333 } }",
    "axe in dark at 360 px: [('color-contrast'": "@media (width < 400px) { main p { color: #333 } }",
    "axe in dark at 360 px: [('scrollable-region-focusable'": "@media (width < 400px) "
    "{ main p { overflow: auto; height: 8px; width: 90px } }",
    "wider than 360 px": "@media (width < 400px) { h1 { min-width: 500px } }",
    "wider than 1100 px": "@media (width < 1200px) { h1 { min-width: 1150px } }",
    "wider than the window at 200 %": "@media (400px < width < 700px) { h1 { min-width: 900px } }",
    ".footer is on several lines": ".footer .frame > :first-child { margin-top: 40px; align-self: start }",
    "moves where motion is unwanted": "main { transition-duration: 1s !important }",
    "its h1: []": "h1 { display: none }",
}


@pytest.mark.parametrize(("fault", "style"), _BREAKS.items(), ids=_BREAKS)
def test_a_visit_names_what_is_broken(open_page: OpenPage, fault: str, style: str) -> None:
    page = open_page("/help/reasons", viewport=WIDE)
    _add_style(page, style)
    found = list(faults_of(page))
    assert any(each.startswith(fault) for each in found), found


def test_what_moves_while_a_page_is_shown_is_named(open_page: OpenPage) -> None:
    page = open_page("/help/reasons")
    assert shift_of(page) is None
    page.evaluate(
        "() => { const notice = document.createElement('p'); notice.style.height = '300px';"
        " document.querySelector('main').prepend(notice); }"
    )
    moved = re.fullmatch(r"it moves by (0\.\d+): \[.+\]", shift_of(page) or "")
    assert moved is not None
    assert float(moved[1]) >= MOST_SHIFT


def test_a_visit_looks_at_what_only_a_phone_shows(open_page: OpenPage) -> None:
    page = open_page("/help/reasons", viewport=WIDE)
    page.evaluate(
        "() => { const image = document.createElement('img'); image.className = 'phone-alone';"
        " image.src = '/favicon.ico'; document.querySelector('main p').append(image); }"
    )
    _add_style(page, "@media (width > 400px) { .phone-alone { display: none } }")
    found = list(faults_of(page))
    assert any(each.startswith("axe in dark at 360 px: [('image-alt'") for each in found), found
    assert not any(each.startswith("axe in light") for each in found), found


def test_other_colours_of_elements_that_other_pages_have_are_looked_at(open_page: OpenPage) -> None:
    page = open_page("/help/reasons", viewport=WIDE)
    seen: Kinds = set()
    assert list(faults_of(page, seen=seen)) == []
    page.goto("/help/errors")
    _add_style(page, ".masthead a { color: #ccc } @media (prefers-color-scheme: dark) { .masthead a { color: #333 } }")
    found = list(faults_of(page, seen=seen))
    for scheme in ("light", "dark"):
        assert any(each.startswith(f"axe in {scheme}: [('color-contrast'") for each in found), found


def _add_style(page: Page, style: str) -> None:
    """The policy of the site forbids a style in the page."""
    page.evaluate(
        "(text) => { const sheet = new CSSStyleSheet(); sheet.replaceSync(text);"
        " document.adoptedStyleSheets = [sheet]; }",
        style,
    )
