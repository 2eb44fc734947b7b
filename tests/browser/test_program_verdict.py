"""Drawings of a compiled program, and where they are on a page. No program is compiled. test_pages.py looks at the same
verdicts with axe and on a small phone.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browser import Service
from tests.browser.sample_work import verdicts_of_programs
from tests.browser.stored_attempts import stored
from tests.browser.workbench import PROBLEM, OpenPage

SCHEMES = ["light", "dark"]
_VERDICTS = {f"{'f' * 31}{number}": verdict for number, verdict in enumerate(verdicts_of_programs().values())}
WRONG, RIGHT, LONG, HALF, REAL = (f"/attempts/{attempt_id}" for attempt_id in _VERDICTS)


@pytest.fixture(scope="module", autouse=True)
def attempts(service: Service) -> Iterator[None]:
    with stored(service, _VERDICTS):
        yield


@pytest.fixture
def pane(open_page: OpenPage) -> Page:
    """The problem page, beside whose code verdicts are shown."""
    return open_page(f"{PROBLEM}#verdict", viewport={"width": 1366, "height": 768})


def _open_all(page: Page) -> None:
    page.evaluate("document.querySelectorAll('section.verdict details').forEach((each) => { each.open = true; })")


def test_what_is_wrong_is_seen_without_a_click(open_page: OpenPage) -> None:
    page = open_page(WRONG)
    expected = page.get_by_role("img", name="params/w1, expected, on fsdp = 8").first
    yours = page.get_by_role("img", name="params/w1, yours, on fsdp = 8").first
    expect(expected).to_be_visible()
    expect(yours).to_be_visible()
    expect(page.get_by_role("link", name="Where to look")).to_have_attribute("href", "/help/reasons#wrong_sharding")


def _rows_end(page: Page, checks: int) -> float:
    rows = page.locator(".check > details > summary")
    expect(rows).to_have_count(checks)
    return max(box["y"] + box["height"] for each in rows.all() if (box := each.bounding_box()) is not None)


def _height(page: Page) -> float:
    box = page.locator("section.verdict").bounding_box()
    assert box is not None
    return box["height"]


def _show_in_pane(page: Page, path: str) -> None:
    """Put a verdict into the problem page, as its script does after grading."""
    page.evaluate(
        """async (url) => {
            const answer = await fetch(url);
            const fragment = document.createRange().createContextualFragment(await answer.text());
            const styles = [...fragment.querySelectorAll("link")];
            const loaded = styles.map((each) => new Promise((resolve) => { each.onload = resolve; }));
            document.querySelector("[data-verdict]").replaceChildren(fragment);
            await Promise.all(loaded);
        }""",
        f"{path}/verdict",
    )


@pytest.mark.parametrize(
    ("path", "checks", "height"), [(WRONG, 6, 768), (LONG, 10, 900), (HALF, 10, 768), (REAL, 11, 900)]
)
def test_the_verdict_is_on_one_screen_and_stays_short(open_page: OpenPage, path: str, checks: int, height: int) -> None:
    """Each check is one line. With all opened the page stays below 3,000 pixels: meshes are side by side, and leaves
    that are placed alike take the room of one. Five long messages make REAL longer if each list in it is unfolded, too.
    """
    page = open_page(path, viewport={"width": 1366, "height": height})
    assert _rows_end(page, checks) <= height
    heights = page.locator(".check > details > summary").evaluate_all("(all) => all.map((each) => each.offsetHeight)")
    assert max(heights) < 2 * min(heights) <= 64
    page.set_viewport_size({"width": 1366, "height": 768})
    nested = ".verdict .mesh details" if path == REAL else ".nothing"
    _open_all(page)
    page.locator(nested).evaluate_all("(all) => all.forEach((each) => { each.open = false; })")
    assert page.evaluate("document.documentElement.scrollHeight") < 3000


def test_the_headline_and_its_picture_come_first_beside_the_code(pane: Page) -> None:
    """The pane is half as wide: each check is still one line, with its figure alone."""
    for path in (WRONG, LONG, HALF, REAL):
        _show_in_pane(pane, path)
        expect(pane.locator(".why h3")).to_be_in_viewport(ratio=1)
        if path != HALF:  # it failed in what is not drawn
            expect(pane.locator(".first-picture")).to_be_in_viewport(ratio=1)
        expect(pane.locator(".heads h3")).to_be_in_viewport(ratio=1)
        if path != WRONG:
            _open_all(pane)
            assert _height(pane) < 4200, path


def test_checks_that_failed_come_first_and_are_drawn_beside_the_code(pane: Page) -> None:
    _show_in_pane(pane, HALF)
    assert pane.locator(".check").evaluate_all("(all) => all.map((each) => each.dataset.passed)") == (
        ["no"] * 5 + ["yes"] * 5
    )
    passed = pane.locator(".check[data-passed=yes]").first
    finding = passed.locator(".finding")
    expect(finding).to_be_hidden()
    passed.locator("summary").first.press("Enter")
    expect(finding).to_be_visible()
    _show_in_pane(pane, WRONG)
    expect(pane.get_by_role("img", name="params/w1, yours, on fsdp = 8").first).to_be_visible()
    assert pane.locator(".shard-1").first.evaluate("(each) => getComputedStyle(each).fill") != "rgb(0, 0, 0)"


def test_a_row_opens_what_its_check_found(open_page: OpenPage) -> None:
    page = open_page(WRONG)
    table = page.get_by_role("table", name="Bytes on the fullest device, fsdp = 8", exact=True)
    expect(table).to_be_hidden()
    page.locator(".check > details > summary", has_text="Memory per device").press("Enter")
    expect(table).to_be_in_viewport()


def test_a_drawing_has_its_numbers_in_a_table(open_page: OpenPage) -> None:
    page = open_page(RIGHT)
    _open_all(page)
    row = page.get_by_role("row", name="temporaries").first
    expect(row).to_contain_text("96.0 KiB")
    expect(row.locator("abbr").last).to_have_attribute("title", "98,304")
    expect(page.get_by_role("heading", name="Efficiency: 104.24")).to_be_visible()


def test_drawings_are_coloured_by_the_style_sheet(open_page: OpenPage) -> None:
    """The policy allows no inline style, so a colour that shows has come from there."""
    page, fills = open_page(WRONG), set()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        fills.add(page.locator(".shard-1").first.evaluate("(each) => getComputedStyle(each).fill"))
    assert len(fills) == 2
    assert "rgb(0, 0, 0)" not in fills


def test_a_program_problem_leads_to_its_ranking(open_page: OpenPage) -> None:
    page = open_page("/problems/psum_scatter_mean")
    page.get_by_text("About", exact=True).click()
    page.get_by_role("link", name="Ranking").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Ranking of")
