"""Drawings of a compiled program, checked with axe and on a small phone, in light and dark. No program is compiled."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from grader.verdicts.stored_verdict import read_verdict
from tests.app.program_verdict import program_verdict
from tests.browser.browser import Service
from tests.browser.stored_attempts import store_attempt
from tests.browser.workbench import PROBLEM, OpenPage

SCHEMES = ["light", "dark"]
_STORED = Path(__file__).parents[1] / "grader" / "stored_verdicts" / "version_1" / "program_accepted.json"
_VERDICTS = {
    "f" * 31 + "0": program_verdict("fsdp_step", wrong=True),
    "f" * 31 + "1": program_verdict("fsdp_step", efficiency=104.237),
    # A verdict of the judge, with two meshes and ten checks.
    "f" * 31 + "2": read_verdict(json.loads(_STORED.read_text(encoding="utf-8"))).model_copy(
        update={"problem": "fsdp_step"}
    ),
}
# The same where every other check failed.
_VERDICTS["f" * 31 + "3"] = _VERDICTS["f" * 31 + "2"].model_copy(
    update={
        "status": "rejected",
        "reason": "wrong_sharding",
        "score": 50,
        "efficiency": None,
        "checks": [
            each.model_copy(update={"passed": False, "points": 0}) if number % 2 else each
            for number, each in enumerate(_VERDICTS["f" * 31 + "2"].checks)
        ],
    }
)
# The judge's verdict on a plain data-parallel step at fsdp_shard_map_step: 5 of 11 checks failed.
_REJECTED = Path(__file__).parent / "verdicts" / "fsdp_shard_map_step_rejected.json"
_VERDICTS["f" * 31 + "4"] = read_verdict(json.loads(_REJECTED.read_text(encoding="utf-8"))).model_copy(
    update={"problem": "fsdp_step"}
)
WRONG, RIGHT, LONG, HALF, REAL = (f"/attempts/{attempt_id}" for attempt_id in _VERDICTS)


@pytest.fixture(scope="module", autouse=True)
def stored(service: Service) -> Iterator[None]:
    """Both attempts, finished, in the database of the running service until the end of the test."""
    with sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=30) as connection:
        (owner,) = connection.execute("SELECT id FROM users WHERE role = 'owner'").fetchone()
        for attempt_id, verdict in _VERDICTS.items():
            store_attempt(connection, owner, attempt_id, verdict)
    connection.close()
    yield
    with sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=30) as connection:
        connection.executemany("DELETE FROM attempts WHERE id = ?", [(attempt_id,) for attempt_id in _VERDICTS])
    connection.close()


def _open_all(page: Page) -> None:
    page.evaluate("document.querySelectorAll('section.verdict details').forEach((each) => { each.open = true; })")


def _violations(page: Page) -> list[tuple[str, list[str]]]:
    found = Axe().run(page).response["violations"]
    return [(violation["id"], [node["html"][:200] for node in violation["nodes"]]) for violation in found]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("path", [WRONG, RIGHT, LONG, "/help/reasons", "/problems/fsdp_step/ranking"])
def test_a_page_has_no_violation(open_page: OpenPage, path: str, scheme: str) -> None:
    page = open_page(path, color_scheme=scheme)
    _open_all(page)
    assert _violations(page) == []


@pytest.mark.parametrize("path", [WRONG, RIGHT, LONG, "/help/reasons"])
def test_a_page_fits_360_pixels(open_page: OpenPage, path: str) -> None:
    page = open_page(path, viewport={"width": 360, "height": 740})
    _open_all(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for drawing in page.locator("svg.drawing").all():
        box = drawing.bounding_box()
        assert box is not None
        assert box["width"] <= 360
        assert box["height"] > 0


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
def test_the_verdict_is_on_one_screen(open_page: OpenPage, path: str, checks: int, height: int) -> None:
    page = open_page(path, viewport={"width": 1366, "height": height})
    assert _rows_end(page, checks) <= height


@pytest.mark.parametrize("path", [WRONG, LONG, HALF, REAL])
def test_the_headline_and_its_picture_come_first_beside_the_code(open_page: OpenPage, path: str) -> None:
    """The pane is half as wide: checks that failed keep their measurements, and those that passed are named."""
    page = open_page(f"{PROBLEM}#verdict", viewport={"width": 1366, "height": 768})
    _show_in_pane(page, path)
    expect(page.locator(".why h3")).to_be_in_viewport(ratio=1)
    if path != HALF:  # it failed in what is not drawn
        expect(page.locator(".first-picture")).to_be_in_viewport(ratio=1)
    expect(page.locator(".heads h3")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("path", [LONG, REAL])
def test_a_verdict_of_which_all_is_opened_stays_short(open_page: OpenPage, path: str) -> None:
    """Below 3,600 pixels: the meshes are side by side, and 18 leaves that are placed alike take the room of one."""
    page = open_page(path, viewport={"width": 1366, "height": 768})
    _open_all(page)
    assert _height(page) < 3600


@pytest.mark.parametrize("path", [LONG, HALF, REAL])
def test_it_stays_short_beside_the_code(open_page: OpenPage, path: str) -> None:
    page = open_page(f"{PROBLEM}#verdict", viewport={"width": 1366, "height": 768})
    _show_in_pane(page, path)
    _open_all(page)
    assert _height(page) < 4200


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_verdict_beside_the_code_has_no_violation(open_page: OpenPage, scheme: str) -> None:
    page = open_page(f"{PROBLEM}#verdict", viewport={"width": 1366, "height": 768}, color_scheme=scheme)
    _show_in_pane(page, HALF)
    _open_all(page)
    assert _violations(page) == []


def test_checks_that_failed_come_first(open_page: OpenPage) -> None:
    page = open_page(f"{PROBLEM}#verdict", viewport={"width": 1366, "height": 768})
    _show_in_pane(page, HALF)
    assert page.locator(".check").evaluate_all("(all) => all.map((each) => each.dataset.passed)") == (
        ["no"] * 5 + ["yes"] * 5
    )
    passed = page.locator(".check[data-passed=yes]").first
    expect(passed.locator(".measure").first).to_be_hidden()
    finding = passed.locator(".finding")
    expect(finding).to_be_hidden()
    passed.locator("summary").first.press("Enter")
    expect(finding).to_be_visible()


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
    fills = set()
    for scheme in SCHEMES:
        page = open_page(WRONG, color_scheme=scheme)
        fills.add(page.locator(".shard-1").first.evaluate("(each) => getComputedStyle(each).fill"))
    assert len(fills) == 2
    assert "rgb(0, 0, 0)" not in fills


def test_the_verdict_is_drawn_in_place_on_the_problem_page(open_page: OpenPage) -> None:
    page = open_page(f"{PROBLEM}#verdict")
    _show_in_pane(page, WRONG)
    drawing = page.get_by_role("img", name="params/w1, yours, on fsdp = 8").first
    expect(drawing).to_be_visible()
    assert page.locator(".shard-1").first.evaluate("(each) => getComputedStyle(each).fill") != "rgb(0, 0, 0)"


def test_a_program_problem_leads_to_its_ranking(open_page: OpenPage) -> None:
    page = open_page("/problems/psum_scatter_mean")
    page.get_by_role("link", name="Ranking").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Ranking of")
    assert _violations(page) == []
