"""The picture below the code, with the real judge: it follows what is typed, and leads to lines."""

import json
import re

from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.accessibility import violations
from tests.browser.browser import CHECKOUT
from tests.browser.workbench import VERDICT_TIMEOUT_MS, OpenPage, Traffic, await_verdict, editor, write

PATH = "/problems/psum_scatter_mean"
_FOLDER = CHECKOUT / "problems" / "psum_scatter_mean"
SOURCE = (_FOLDER / "reference.py").read_text(encoding="utf-8")
WIDE = {"width": 1366, "height": 768}


def _drawn(page: Page) -> Locator:
    picture = page.locator("[data-explored]")
    expect(picture).to_be_attached(timeout=VERDICT_TIMEOUT_MS)
    return picture


def test_the_starter_shows_its_picture_and_typing_draws_again(open_page: OpenPage) -> None:
    page = open_page(PATH, viewport=WIDE)
    expect(_drawn(page)).to_have_attribute("data-explored", "on fsdp = 8")
    write(page, SOURCE)
    sent = page.locator("[data-picture-box] .outline-sent")
    expect(sent).to_contain_text("reduce-scatter over fsdp", timeout=VERDICT_TIMEOUT_MS)
    link = sent.get_by_role("link").first
    line = link.inner_text().removeprefix("line ")
    link.press("Enter")
    expect(editor(page)).to_be_focused()
    expect(page.locator(".cm-lineNumbers .cm-activeLineGutter")).to_have_text(line)
    # Nothing of the page is out of sight, and nothing was graded.
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    expect(page.locator("section.verdict")).to_have_count(0)


def test_a_returning_student_loads_little_although_the_result_is_stored(open_page: OpenPage) -> None:
    page = open_page(PATH, viewport=WIDE)
    write(page, SOURCE)
    page.get_by_role("button", name="Run").click()
    await_verdict(page, "accepted")
    expect(page.locator("[data-picture-box] .outline-sent")).to_contain_text(
        "reduce-scatter", timeout=VERDICT_TIMEOUT_MS
    )
    expect(page.locator("[data-draft-mark]")).to_have_text("Saved")
    # A browser of its own, whose cache is empty.
    page = open_page("/help/errors", viewport=WIDE)
    traffic = Traffic(page)
    with page.expect_response("**/api/v1/explorations") as sent:
        page.goto(PATH)
    expect(page.locator("[data-picture-box] .outline-sent")).to_contain_text("reduce-scatter")
    expect(page.locator("section.verdict")).to_be_attached()
    assert set(sent.value.json()) >= {"id", "status"}
    assert "result" not in sent.value.json()
    page.wait_for_load_state("networkidle")
    assert traffic.take() < 170_000


def test_a_line_that_stops_the_program_is_marked_as_one_types(open_page: OpenPage) -> None:
    page = open_page(PATH, viewport=WIDE)
    _drawn(page)
    source = SOURCE.replace("jax.lax.psum_scatter", "jax.lax.psum_scater")
    line = next(number for number, each in enumerate(source.splitlines(), 1) if "psum_scater" in each)
    write(page, source)
    expect(page.locator(".cm-bad-number")).to_have_text(str(line), timeout=VERDICT_TIMEOUT_MS)
    stops = page.locator("[data-picture-box] .stops")
    expect(stops).to_contain_text("AttributeError: module 'jax.lax' has no attribute 'psum_scater'")
    assert violations(page) == []
    stops.get_by_role("link", name=f"line {line}").click()
    expect(page.locator(".cm-lineNumbers .cm-activeLineGutter")).to_have_text(str(line))
    write(page, SOURCE)
    expect(page.locator(".cm-dot")).to_have_count(1, timeout=VERDICT_TIMEOUT_MS)
    expect(page.locator(".cm-bad-number")).to_have_count(0)


def test_switched_off_it_waits_for_a_run_and_folds(open_page: OpenPage) -> None:
    page = open_page(PATH, viewport=WIDE)
    _drawn(page)
    page.clock.install()
    switch = page.get_by_label("Draw as I type")
    switch.uncheck()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    write(page, "def (")
    # Longer than it waits until nobody types. The draft is saved in that time, too.
    page.clock.fast_forward(60_000)
    expect(page.locator("[data-draft-mark]")).to_have_text("Saved")
    assert "draft" in asked
    assert "picture" not in asked
    expect(page.locator("[data-picture-said]")).to_have_text("on fsdp = 8")
    write(page, SOURCE)
    fold = page.locator("[data-picture-fold]")
    fold.press("Enter")
    expect(fold).to_have_attribute("aria-expanded", "false")
    page.reload()
    expect(page.get_by_label("Draw as I type")).not_to_be_checked()
    expect(page.locator("[data-picture-box]")).to_be_hidden()
    page.locator("[data-picture-fold]").press("Enter")
    editor(page).press("Control+Enter")
    expect(page.locator("[data-picture-box] .outline-sent")).to_contain_text(
        "reduce-scatter", timeout=VERDICT_TIMEOUT_MS
    )


def _stub_picture(page: Page, state: dict[str, object], *, is_partial: bool) -> None:
    """Answer for the server from now on: each exploration is in this state, and has a picture at the second look."""
    events = {"content_type": "text/event-stream", "body": f"retry: 50\nevent: status\ndata: {json.dumps(state)}\n\n"}
    part = "data-partial" if is_partial else ""
    picture = {"content_type": "text/html", "body": f'<div data-explored="on mesh" data-lines="[]" {part}>Drawn</div>'}
    looked: list[str] = []

    def answer(route: Route) -> None:
        looked.append(route.request.url)
        route.fulfill(status=204) if is_partial and len(looked) == 1 else route.fulfill(**picture)

    page.route(re.compile("/explorations/[0-9a-f]+/events$"), lambda route: route.fulfill(**events))
    page.route(re.compile("/explore/[0-9a-f]{32}/picture$"), answer)


def test_a_text_that_does_not_compile_says_why(open_page: OpenPage) -> None:
    page = open_page(PATH, viewport=WIDE)
    _drawn(page)
    write(page, "def (")
    expect(page.locator("[data-picture-said]")).to_have_text("no program", timeout=VERDICT_TIMEOUT_MS)
    expect(page.locator("[data-picture-box]")).to_contain_text("invalid syntax")

    # The first mesh is drawn while the next one is still being compiled.
    _stub_picture(page, {"status": "running", "phase": None, "partial": True}, is_partial=True)
    write(page, SOURCE)
    expect(page.locator("[data-picture-said]")).to_have_text("compiling the rest")
    expect(page.locator("[data-picture-box]")).to_have_text("Drawn")
    _stub_picture(page, {"status": "finished", "phase": None}, is_partial=False)
    expect(page.locator("[data-picture-said]")).to_have_text("on mesh")


def test_the_reader_chooses_the_chip_and_it_stays_chosen(open_page: OpenPage) -> None:
    """Chips are offered where their compilers are installed; without one, the picture says so."""

    def offer(route: Route) -> None:
        answer = route.fetch()
        chosen = (
            '<select data-picture-chip aria-label="Chip"><option value="">CPUs</option><option>h100</option></select>'
        )
        # The page of a machine with compilers has its own choice.
        page_text = re.sub(r"<select data-picture-chip.*?</select>", "", answer.text())
        route.fulfill(
            response=answer, body=page_text.replace('<div class="picture-head">', f'<div class="picture-head">{chosen}')
        )

    page = open_page("/problems", viewport=WIDE)
    page.route(f"**{PATH}", offer)
    page.goto(PATH)
    _drawn(page)
    said, chip = page.locator("[data-picture-said]"), page.get_by_label("Chip")
    write(page, SOURCE)
    expect(page.locator("[data-picture-box] .outline-sent")).to_contain_text(
        "reduce-scatter", timeout=VERDICT_TIMEOUT_MS
    )
    chip.select_option("h100")
    expect(said).to_have_text("on h100:8", timeout=VERDICT_TIMEOUT_MS)
    # What is drawn already is there at once, and what was being compiled comes too late.
    asked: list[str] = []
    # The draft is saved at a moment of its own.
    page.on("request", lambda request: "/draft" in request.url or asked.append(f"{request.method} {request.url}"))
    chip.select_option("")
    expect(said).to_have_text("on fsdp = 8")
    chip.select_option("h100")
    expect(said).to_have_text("on h100:8")
    assert [each.rpartition("/")[2] for each in asked] == ["picture", "picture"], asked
    assert all(each.startswith("GET ") for each in asked)
    page.reload()
    _drawn(page)
    expect(chip).to_have_value("h100")
    expect(said).to_have_text("on h100:8", timeout=VERDICT_TIMEOUT_MS)


def test_a_guest_sees_what_is_kept_of_the_starter(open_page: OpenPage) -> None:
    _drawn(open_page(PATH, viewport=WIDE))
    page = open_page(PATH, viewport=WIDE, anonymous=True)
    _drawn(page)
    expect(page.get_by_label("Draw as I type")).to_be_hidden()


def test_the_keys_are_one_key_away(open_page: OpenPage) -> None:
    page = open_page(PATH, viewport=WIDE)
    page.locator("h1").click()
    page.keyboard.press("?")
    expect(page.locator("[data-help-menu] dl")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("[data-help-menu] dl")).to_be_hidden()


def test_no_part_of_the_page_scrolls_the_window(open_page: OpenPage) -> None:
    for part in ("verdict", "history", "editorial"):
        page = open_page(f"{PATH}#{part}", viewport=WIDE)
        expect(page.get_by_role("tab", name=part.capitalize())).to_have_attribute("aria-selected", "true")
        assert page.evaluate("scrollY") == 0
        expect(page.locator(".masthead")).to_be_in_viewport(ratio=1)
