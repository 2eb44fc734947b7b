"""Text of a submission, its verdict, a name and a shared link stays text in a real browser, which runs none of it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from grader.verdicts.evidence import Facts, Fault, Frame
from grader.verdicts.verdict import CaseResult, CheckResult, Verdict
from tests.browser.browser import Service
from tests.browser.stored_attempts import database, owner_of, stored
from tests.browser.workbench import PROBLEM, OpenPage

_EVIL = (
    "</code></pre></textarea><script>document.title='seized'</script><img src=x onerror=\"document.title='seized'\">"
)
_TERMINAL = "\x1b]0;seized\x07\x1b[2J\x1b[31m"
_ATTEMPT = "e" * 31 + "5"
_PATH = f"/attempts/{_ATTEMPT}"
_VERDICT = Verdict(
    problem="fsdp_step",
    version="a" * 64,
    status="rejected",
    reason="error",
    score=0,
    stdout=_EVIL + _TERMINAL,
    walls=["namespaces"],
    checks=[
        CheckResult(
            id="values",
            title=_EVIL,
            passed=False,
            points=0,
            max_points=100,
            trust="verified",
            message=_EVIL + _TERMINAL,
            evidence=[
                Fault(line=1, type=_EVIL, traceback=[Frame(line=1, function=_EVIL, text=_EVIL + _TERMINAL)]),
                Facts(about=_EVIL, values={_EVIL: _EVIL}),
            ],
        )
    ],
    cases=[CaseResult(id="public-1", public=True, passed=False, message=_EVIL + _TERMINAL)],
)


@pytest.fixture(scope="module", autouse=True)
def hostile(service: Service) -> Iterator[None]:
    """The attempt of the owner, whose source is as hostile as its verdict, until the end of these tests."""
    with stored(service, {_ATTEMPT: _VERDICT}, source=_EVIL + _TERMINAL):
        with database(service) as connection:
            owner = owner_of(connection)
            connection.execute("UPDATE users SET ranking_name = ? WHERE id = ?", (_EVIL, owner))
            # A draft of an earlier test that was never run would have to be confirmed before it is replaced.
            connection.execute("DELETE FROM drafts WHERE user_id = ?", (owner,))
        yield
        with database(service) as connection:
            connection.execute("UPDATE users SET ranking_name = NULL WHERE id = ?", (owner,))


def _assert_is_text(page: Page) -> None:
    """Nothing ran, no element came out of the text, no escape is left. A policy violation fails the test by itself."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    # What a handler would do is done after one more answer of the server and one more frame.
    page.evaluate("fetch(location.href).then(() => new Promise((done) => { requestAnimationFrame(done); }))")
    assert "seized" not in page.title()
    assert page.locator("img[src=x], [onerror]").count() == 0
    assert not re.search("[\x07\x1b]", page.locator("body").inner_text())


def test_an_attempt_shows_it(open_page: OpenPage) -> None:
    page = open_page(_PATH)
    page.evaluate("document.querySelectorAll('.verdict details').forEach((each) => { each.open = true; })")
    assert page.locator("section.verdict").inner_text().count("<script>") >= 4
    assert "<script>" in page.locator(".source").inner_text()
    _assert_is_text(page)


@pytest.mark.parametrize("tab", ["verdict", "history"])
def test_the_problem_page_shows_it(open_page: OpenPage, tab: str) -> None:
    _assert_is_text(open_page(f"{PROBLEM}#{tab}"))


def test_it_is_opened_in_the_editor(open_page: OpenPage) -> None:
    page = open_page(_PATH)
    page.get_by_role("button", name="Open in editor").click()
    page.wait_for_url(f"**{PROBLEM}*")
    page.locator(".cm-line").first.wait_for()
    assert "<script>" in page.locator("textarea").first.input_value()
    assert "seized" not in page.title()
    assert page.locator("img[src=x]").count() == 0


def test_a_stranger_with_the_shared_link_sees_text(open_page: OpenPage) -> None:
    page = open_page(_PATH)
    page.get_by_role("button", name="Share source and verdict").click()
    shared = page.get_by_role("link", name="See what others see").get_attribute("href")
    other = open_page(str(shared), anonymous=True)
    assert "<script>" in other.locator(".source").inner_text()
    _assert_is_text(other)


@pytest.mark.parametrize(
    "path",
    [
        "/account",
        f"{PROBLEM}/ranking",
        "/attempts",
        "/problems?q={0}&tag={0}",
        "/{0}",
        "/sign-in?next={0}",
        "/shared/{0}",
    ],
)
def test_a_page_that_repeats_a_name_or_an_address_shows_text(
    open_page: OpenPage, complaints: list[str], path: str
) -> None:
    evil = "%3C/title%3E%3Cscript%3Edocument.title='seized'%3C%2Fscript%3E%3Cimg%20src=x%20onerror=alert(1)%3E"
    _assert_is_text(open_page(path.format(evil)))
    # The browser itself reports an address that leads nowhere.
    complaints[:] = [each for each in complaints if "status of 404" not in each]
