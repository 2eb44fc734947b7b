"""On the page of every problem, the code has room, Submit is in sight, and nothing moves once it is shown.

Nothing is graded or compiled. One page goes through all problems for each size of window.
"""

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, ViewportSize, expect

from tests.browser.accessibility import violations
from tests.browser.browser import CHECKOUT, Service, serve
from tests.browser.layout_shift import SHOWN, shift_of
from tests.browser.sessions import sign_in_by_link
from tests.browser.visits import LAPTOP, PHONE
from tests.browser.workbench import Traffic, turn_to, write

LINES, COLUMNS = 20, 40
# The last verdict of a returning student has up to 5,000 more.
MOST_BYTES = 165_000
MODES = {
    folder.name: tomllib.loads((folder / "problem.toml").read_text(encoding="utf-8"))["mode"]
    for folder in sorted((CHECKOUT / "problems").iterdir())
    if (folder / "problem.toml").is_file()
}
WRITTEN = [slug for slug, mode in MODES.items() if mode != "answer"]
DRAWN = "psum_scatter_mean"
LIMITS = "Your code may use at most 30 s of CPU time and 2 GB of memory."
# Higher than any place that a page has for it.
PICTURE = '<div data-explored="on fsdp = 8" data-lines="[]">{}</div>'.format("<p>A leaf of the state.</p>" * 60)
_KEPT = """const ask = window.fetch;
window.fetch = async (address, options) => {
  if (!/^.problems.\\w+.picture/.test(address)) return ask(address, options);
  await new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)));
  return new Response(%s, { headers: { 'Content-Type': 'text/html' } });
};"""
_MEASURED = """() => {
  const root = document.querySelector('[data-editor]').shadowRoot;
  const [scroller, content, line] = ['.cm-scroller', '.cm-content', '.cm-line'].map((each) => root.querySelector(each));
  const style = getComputedStyle(content);
  const text = document.createElement('canvas').getContext('2d');
  text.font = style.font;
  const after = root.querySelector('.cm-gutters-after')?.offsetWidth ?? 0;
  const gutters = root.querySelector('.cm-gutters').getBoundingClientRect();
  const left = gutters.right + parseFloat(getComputedStyle(line).paddingLeft);
  const right = Math.min(innerWidth, scroller.getBoundingClientRect().left + scroller.clientWidth) - after;
  const submit = document.querySelector('[value=submit]').getBoundingClientRect();
  const picture = document.querySelector('.live-picture');
  const outline = document.querySelector('#statement .outline')?.getBoundingClientRect();
  return {
    outline: outline ? outline.top + Math.min(outline.height, 100) - innerHeight : null,
    lines: (scroller.clientHeight - parseFloat(style.paddingTop)) / parseFloat(style.lineHeight),
    columns: (right - left) / text.measureText('0').width,
    below: Math.max(submit.bottom - innerHeight, -submit.top, submit.right - innerWidth),
    picture: picture?.clientHeight ?? null,
    above: picture && scroller.getBoundingClientRect().top - picture.getBoundingClientRect().bottom,
    wide: document.documentElement.scrollWidth - innerWidth,
  };
}"""


@pytest.fixture(scope="module")
def all_problems(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serve(tmp_path_factory.mktemp("all") / "data", all_problems=True, judge="nothing") as running:
        yield running


@pytest.fixture(scope="module")
def reader(all_problems: Service) -> StorageState:
    return sign_in_by_link(all_problems)


@pytest.fixture
def contexts(browser: Browser) -> Iterator[list[BrowserContext]]:
    opened: list[BrowserContext] = []
    yield opened
    for each in opened:
        each.close()


def _open(
    browser: Browser, contexts: list[BrowserContext], service: Service, size: ViewportSize, reader: StorageState | None
) -> Page:
    """A page whose pictures are kept ones, which come when the page has been shown without.

    No request is routed, because then the browser would cache nothing.
    """
    context = browser.new_context(base_url=service.url, storage_state=reader, viewport=size, reduced_motion="reduce")
    contexts.append(context)
    context.add_init_script(_KEPT % json.dumps(PICTURE))
    return context.new_page()


def _measure(page: Page, slug: str, part: str = "") -> dict[str, Any]:
    page.goto(f"/problems/{slug}{part}")
    page.locator(".cm-line").first.wait_for()
    if MODES[slug] == "program":
        page.locator("[data-explored]").wait_for(state="attached")
    moved = shift_of(page)
    return page.evaluate(_MEASURED) | {"moved": moved}


def _faults(found: dict[str, Any]) -> list[str]:
    faults = []
    if found["below"] > 0:
        faults.append(f"Submit is {found['below']} px outside of the window")
    if found["wide"] > 0:
        faults.append(f"the page is {found['wide']} px too wide")
    if found["moved"]:
        faults.append(found["moved"])
    return faults


@pytest.mark.parametrize("signed_in", [True, False], ids=["student", "guest"])
def test_a_laptop_shows_twenty_lines_with_the_picture_below_them(
    browser: Browser, contexts: list[BrowserContext], all_problems: Service, reader: StorageState, signed_in: bool
) -> None:
    page = _open(browser, contexts, all_problems, LAPTOP, reader if signed_in else None)
    traffic = Traffic(page)
    faults = {}
    # What a guest sees beside the code is the same in all problems of a mode.
    for slug in WRITTEN if signed_in else WRITTEN[:8]:
        found = _measure(page, slug)
        faults[slug] = _faults(found)
        if found["lines"] < LINES:
            faults[slug].append(f"{found['lines']:.1f} lines")
        if (found["picture"] is None) != (MODES[slug] != "program") or (found["picture"] or 60) < 60:
            faults[slug].append(f"the picture has {found['picture']} px")
        if found["outline"] is None or found["outline"] > 0:
            faults[slug].append(f"the drawing of a solution ends {found['outline']} px below the window")
        if (loaded := traffic.take()) > MOST_BYTES or loaded < MOST_BYTES / 3:
            faults[slug].append(f"{loaded} bytes")
    assert {slug: each for slug, each in faults.items() if each} == {}


def test_a_phone_shows_forty_columns_and_the_buttons(
    browser: Browser, contexts: list[BrowserContext], all_problems: Service, reader: StorageState
) -> None:
    page = _open(browser, contexts, all_problems, PHONE, reader)
    faults = {}
    for slug in WRITTEN:
        found = _measure(page, slug, "#workbench")
        faults[slug] = _faults(found)
        if found["columns"] < COLUMNS:
            faults[slug].append(f"{found['columns']:.1f} columns")
        if found["above"] is not None and found["above"] < 0:
            faults[slug].append("the picture is not above the code")
    assert {slug: each for slug, each in faults.items() if each} == {}


def test_what_is_not_in_the_head_is_one_key_away(
    browser: Browser, contexts: list[BrowserContext], all_problems: Service, reader: StorageState
) -> None:
    page = _open(browser, contexts, all_problems, LAPTOP, reader)
    page.goto(f"/problems/{DRAWN}")
    about = page.locator(".about")
    head = page.locator(".problem-title").bounding_box()
    assert head is not None
    assert head["height"] < 45
    expect(about.get_by_role("link", name="Ranking")).to_be_hidden()
    about.locator("summary").press("Enter")
    for name in ("Ranking", "Explorer"):
        expect(about.get_by_role("link", name=name)).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(about.get_by_role("link", name="Ranking")).to_be_hidden()
    expect(about.locator("summary")).to_be_focused()


def test_submit_says_what_the_code_may_use_by_keyboard_and_by_touch(
    browser: Browser, contexts: list[BrowserContext], all_problems: Service, reader: StorageState
) -> None:
    page = _open(browser, contexts, all_problems, LAPTOP, reader)
    page.goto(f"/problems/{DRAWN}")
    submit, tip = page.get_by_role("button", name="Submit"), page.get_by_role("tooltip")
    expect(submit).to_have_accessible_description(LIMITS)
    expect(tip).to_be_hidden()
    page.get_by_role("button", name="Run").focus()
    page.keyboard.press("Tab")
    expect(submit).to_be_focused()
    expect(tip).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.keyboard.press("Tab")
    expect(page.locator("[data-own-inputs] > summary")).to_be_focused()
    page.set_viewport_size(PHONE)
    turn_to(page, "Code")
    page.locator("[data-help-menu] > summary").click()
    expect(page.locator("[data-help-menu]")).to_contain_text(LIMITS)


def test_the_picture_is_beside_the_code_when_the_code_is_enlarged(
    browser: Browser, contexts: list[BrowserContext], all_problems: Service, reader: StorageState
) -> None:
    page = _open(browser, contexts, all_problems, LAPTOP, reader)
    page.goto(f"/problems/{DRAWN}")
    page.get_by_role("button", name="Enlarge the code").click()
    code, picture = (page.locator(each).bounding_box() for each in (".editor", ".live-picture"))
    assert code is not None
    assert picture is not None
    assert picture["x"] >= code["x"] + code["width"]
    assert picture["y"] == pytest.approx(code["y"], abs=1)
    assert code["width"] > 2 * picture["width"]


def test_words_are_beside_their_line_and_cover_no_code(
    browser: Browser, contexts: list[BrowserContext], all_problems: Service, reader: StorageState
) -> None:
    """A line with no room keeps its dot. A line that stops the program has a red number."""
    page = _open(browser, contexts, all_problems, LAPTOP, reader)
    lines = [[1, "all-gather 64.0 KiB", 1], [2, "all-reduce 512 B", 2], [4, "ValueError: no such axis", "bad"]]
    picture = PICTURE.replace('data-lines="[]"', f"data-lines='{json.dumps(lines)}'")
    page.route("**/explore/*/picture", lambda route: route.fulfill(content_type="text/html", body=picture))
    page.goto(f"/problems/{DRAWN}")
    with page.expect_response("**/explore/*/picture"):
        write(page, f"x = 1\n# {'a long line, ' * 9}\n\nraise ValueError\n")
    expect(page.locator(".cm-bad-number")).to_have_text("4")
    page.evaluate(SHOWN)
    root = "document.querySelector('[data-editor]').shadowRoot"
    places = f"""[...{root}.querySelectorAll('.cm-words')].map((each) => {{
      const [words, edge] = [each, {root}.querySelector('.cm-scroller')].map((one) => one.getBoundingClientRect());
      return [each.dataset.words, words.width > 0, !words.width || words.right <= edge.right];
    }})"""
    assert page.evaluate(places) == [
        ["all-gather 64.0 KiB", True, True],
        ["all-reduce 512 B", False, True],
        ["ValueError: no such axis", True, True],
    ]
    expect(page.locator(".cm-dot")).to_have_count(3)
    expect(page.locator(".cm-bad-number")).to_have_text("4")
    expect(page.locator(".cm-gutters-after")).to_have_count(0)
    colours = page.locator(".cm-dot").evaluate_all("(all) => all.map((each) => getComputedStyle(each).backgroundColor)")
    assert len(set(colours)) == 3


def test_the_sentence_for_guests_is_one_line(
    browser: Browser, contexts: list[BrowserContext], all_problems: Service
) -> None:
    for size in (LAPTOP, PHONE):
        page = _open(browser, contexts, all_problems, size, None)
        page.goto(f"/problems/{DRAWN}#workbench")
        sentence = page.locator(".guest")
        expect(sentence.get_by_role("link", name="Sign in")).to_be_visible()
        box = sentence.bounding_box()
        assert box is not None
        assert box["height"] < 30
