"""Mode answer by keyboard: what cannot be read is named, and answers are graded where they were written."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, StorageState, expect

from tests.browser.accessibility import violations
from tests.browser.browser import Service, serve
from tests.browser.sessions import sign_in_by_link
from tests.browser.workbench import VERDICT_TIMEOUT_MS, OpenPage, reload_until
from tests.grader.modes.answer.answer_package import FILES

PROBLEM = "/problems/shard_bytes"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of its own, because another problem would change the catalogue that other tests read."""
    folder = tmp_path_factory.mktemp("answers")
    package = folder / "problems" / "shard_bytes"
    package.mkdir(parents=True)
    for name, text in FILES.items():
        (package / name).write_text(text)
    with serve(folder / "data", problems=folder / "problems") as running:
        yield running


@pytest.fixture(scope="module")
def signed_in(service: Service) -> StorageState:
    return sign_in_by_link(service)


def _open_question(open_page: OpenPage, **options: object) -> Page:
    """Wait until the questions have been drawn, which happens once, in the walls."""
    page = open_page(PROBLEM, **options)
    reload_until(page, page.locator("form.answers").or_(page.locator(".expected")))
    return page


def _right_bytes(page: Page) -> int:
    rows, devices = re.findall(r"\d+", page.get_by_role("region", name="Your question").locator("p").inner_text())[::2]
    return int(rows) * 4 // int(devices)


def _answer(page: Page, number: str, spec: str) -> None:
    """Only by keyboard, from the first field on."""
    first = page.get_by_label("Bytes on one device")
    first.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type(number)
    page.keyboard.press("Tab")
    expect(page.get_by_label("Its spec")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type(spec)
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Submit")).to_be_focused()
    page.keyboard.press("Enter")


def _complaints(page: Page) -> list[object]:
    found: list[object] = [*violations(page)]
    if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
        found.append("wider than the window")
    return found


@pytest.mark.parametrize(("scheme", "width"), [("light", 1366), ("dark", 360)])
def test_the_open_question_has_no_violation(open_page: OpenPage, scheme: str, width: int) -> None:
    page = _open_question(open_page, color_scheme=scheme, viewport={"width": width, "height": 740})
    if width < 700:
        page.get_by_role("tab", name="Question").click()
    expect(page.get_by_label("Its spec")).to_be_visible()
    assert _complaints(page) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1366), ("dark", 360)])
def test_what_cannot_be_read_is_named_at_its_field(
    open_page: OpenPage, complaints: list[str], scheme: str, width: int
) -> None:
    page = _open_question(open_page, color_scheme=scheme, viewport={"width": width, "height": 740})
    if width < 700:
        page.get_by_role("tab", name="Question").click()
    _answer(page, "1,00", "P(")
    expect(page.get_by_role("alert")).to_contain_text("Bytes on one device")
    complaints.clear()  # the browser logs the 409 itself
    for label in ("Bytes on one device", "Its spec"):
        expect(page.get_by_label(label)).to_have_attribute("aria-invalid", "true")
    field = page.get_by_label("Bytes on one device")
    expect(field).to_be_focused()
    expect(field).to_have_value("1,00")
    expect(field).to_have_accessible_description(re.compile("Write"))
    expect(page.get_by_role("heading", name="Your question", exact=True)).to_be_visible()
    assert _complaints(page) == []


def test_the_mesh_shows_what_a_typed_spec_means_and_not_whether_it_is_right(open_page: OpenPage) -> None:
    page = _open_question(open_page, viewport={"width": 1366, "height": 768})
    devices = len(page.locator(".question-mesh [data-device]").all())
    expect(page.locator(".question-mesh figcaption")).to_have_text(f"The mesh: fsdp = {devices}.")
    means, letters = page.locator(".meaning").get_by_role("status"), page.locator(".meaning .letter")
    expect(means).to_have_text("Answer, and the mesh shows what your answer means.")
    page.get_by_label("Its spec").focus()
    for typed, text, drawn in (
        ("P('fsdp')", f"Dimension 0 is split into {devices} blocks along fsdp. A: device 0. B: device 1.", list("AB")),
        ("P()", "Whole on every device.", ["all", "all"]),
        ("P('data')", "The mesh has no axis 'data'. Its axes are fsdp.", ["", ""]),
        ("P('fsdp', 'fsdp')", "A spec can name each axis only once.", ["", ""]),
        ("P(None, 'fsdp')", "The array has 1 dimension, and this spec has 2 entries.", ["", ""]),
        ("P('fsdp'", "This is not a complete spec yet.", ["", ""]),
        ('jax.sharding.PartitionSpec(("fsdp",), None)', "blocks along fsdp. A: device 0.", list("AB")),
    ):
        page.keyboard.press("Control+a")
        page.keyboard.type(typed)
        expect(means).to_contain_text(text)
        assert letters.all_text_contents()[:2] == drawn
        expect(page.locator(".meaning .shard")).to_have_count(devices if drawn[0] else 0)
    assert _complaints(page) == []


def test_without_a_script_the_form_has_no_empty_picture(open_page: OpenPage) -> None:
    page = _open_question(open_page, java_script_enabled=False)
    expect(page.locator(".question-mesh svg")).to_be_visible()
    expect(page.get_by_label("Its spec")).to_be_visible()
    expect(page.locator(".meaning")).to_be_hidden()


# Sum what moves in the window although the reader has touched nothing.
_WATCH_SHIFTS = """() => {
  window.shifted = 0;
  const add = (each) => { if (!each.hadRecentInput) window.shifted += each.value; };
  new PerformanceObserver((list) => list.getEntries().forEach(add)).observe({ type: "layout-shift" });
}"""


def test_a_wrong_answer_is_graded_in_its_card_and_a_right_one_stays_there(open_page: OpenPage) -> None:
    page = _open_question(open_page, viewport={"width": 1366, "height": 768})
    number, spec = page.get_by_label("Bytes on one device"), page.get_by_label("Its spec")
    below = page.evaluate("innerHeight") - (number.bounding_box() or {"y": 0, "height": 1e9})["y"]
    assert below > 40, "the first field is not in the first window"
    asked = page.get_by_role("region", name="Your question").inner_text()
    page.evaluate(_WATCH_SHIFTS)
    _answer(page, str(_right_bytes(page) + 1), "P('fsdp')")
    said = page.locator("[data-phase]")
    expect(said).to_have_text("✗ Rejected: 1 of 2 right, 50 points.", timeout=VERDICT_TIMEOUT_MS)
    expect(said).to_be_focused()
    assert page.evaluate("window.shifted") < 0.01
    assert page.get_by_role("region", name="Your question").inner_text() == asked
    for field, word in ((number, "Wrong"), (spec, "Right")):
        expect(field).to_have_accessible_description(re.compile(word))
        expect(field).not_to_be_editable()
    expect(number).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("heading", name="Explanation for these numbers")).to_have_count(0)
    assert _complaints(page) == []
    page.reload()
    expect(said).to_contain_text("1 of 2 right")
    expect(spec).to_have_value("P('fsdp')")

    page.get_by_role("link", name="Answer again").click()
    expect(page.get_by_role("heading", name="Your question, try 2")).to_be_focused()
    # Each field says how the last answer was graded.
    expect(number).to_have_accessible_description(re.compile("In try 1, .* was wrong"))
    expect(spec).to_have_accessible_description(re.compile(r"In try 1, .*P\('fsdp'\) was right"))
    again = page.get_by_role("region", name="Your question, try 2")
    assert again.locator("p").inner_text() not in asked
    expect(number).to_have_value("")

    right = str(_right_bytes(page))
    _answer(page, right, "P('fsdp', None)")
    expect(said).to_have_text("✓ Accepted. All your answers are right.", timeout=VERDICT_TIMEOUT_MS)
    expect(page.get_by_role("heading", name="Explanation for these numbers")).to_be_visible()
    assert _complaints(page) == []
    page.goto(page.url.partition("?")[0])
    # Large numbers are shown as they may be written in Python: 14_128.
    expect(number).to_have_value(re.compile("_?".join(right)))
    expect(number).to_have_accessible_description(re.compile("Right"))
    expect(spec).to_have_value("P('fsdp')")
    page.set_viewport_size({"width": 360, "height": 740})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.get_by_role("tab", name="Question").click()
        expect(page.get_by_role("heading", name="Explanation for these numbers")).to_be_visible()
        assert _complaints(page) == []
