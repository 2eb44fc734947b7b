"""The Explorer with the real judge: a source is compiled, and a line leads to what it causes and back."""

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessibility import violations
from tests.browser.browser import CHECKOUT
from tests.browser.visits import LAPTOP, WIDE, faults_of
from tests.browser.workbench import VERDICT_TIMEOUT_MS, OpenPage, lines_in_sight, open_settings

PROBLEM = "psum_scatter_mean"
_FOLDER = CHECKOUT / "problems" / PROBLEM
SOURCE = (_FOLDER / "reference.py").read_text(encoding="utf-8")
OTHER = (_FOLDER / "submissions/rejected/wrong_communication/psum_then_slice.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def explored_path() -> dict[str, str]:
    """Filled by the first test that needs a result, so that one exploration serves them all."""
    return {}


def _open(open_page: OpenPage, known: dict[str, str], **options: object) -> Page:
    """The result of comparing two versions."""
    if "path" not in known:
        page = open_page(f"/explore?problem={PROBLEM}", java_script_enabled=False)
        page.get_by_label("Source, Python").fill(SOURCE)
        page.get_by_text("Compare with another version").click()
        page.get_by_label("The other version, Python").fill(OTHER)
        page.get_by_role("button", name="Explore", exact=True).click()
        expect(page.get_by_role("heading", name="What differs").first).to_be_visible(timeout=VERDICT_TIMEOUT_MS)
        known["path"] = page.url.partition("/explore/")[2]
    page = open_page(f"/explore/{known['path']}", **options)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    return page


def _code(page: Page) -> Locator:
    return page.locator(".cm-content").and_(page.get_by_role("textbox", name="Source, Python"))


def _unfold_fields(page: Page) -> Locator:
    """Opens the line that stands for the fields of a function."""
    line = page.locator("[data-fields] > summary")
    line.press("Enter")
    return line


def _compiled(page: Page) -> Locator:
    """What the script says of the last run."""
    return page.locator("[data-phase]")


def _await(page: Page, text: str) -> None:
    expect(_compiled(page)).to_have_text(re.compile(text), timeout=VERDICT_TIMEOUT_MS)


def test_a_node_of_the_graph_leads_to_its_line_by_keyboard(open_page: OpenPage, explored_path: dict[str, str]) -> None:
    page = _open(open_page, explored_path)
    node = page.get_by_role("link", name=re.compile("^reduce-scatter over")).first
    address = node.get_attribute("href") or ""
    node.hover()
    expect(page.locator(address)).to_have_class("source-line is-cause is-pointed-at")
    node.focus()
    page.keyboard.press("Enter")
    assert page.url.endswith(address)


def test_a_collective_leads_to_its_line_and_back(open_page: OpenPage, explored_path: dict[str, str]) -> None:
    page = _open(open_page, explored_path)
    row = page.get_by_role("listitem").filter(has_text="reduce-scatter").first
    link = row.get_by_role("link")
    number = link.inner_text().removeprefix("line ")
    line = page.locator(f"#line-{number}")
    expect(line).to_contain_text("reduce-scatter over")
    link.hover()
    expect(line).to_have_class("source-line is-cause is-pointed-at")
    line.hover()
    expect(row).to_have_class(re.compile("is-pointed-at"))
    link.click()
    assert page.url.endswith(f"#line-{number}")
    expect(line).to_be_in_viewport()


def test_two_versions_are_two_editors(open_page: OpenPage, explored_path: dict[str, str]) -> None:
    page = _open(open_page, explored_path)
    page.goto(f"/explore?exploration={explored_path['path']}")
    other = page.locator(".compared")
    expect(other.locator(".cm-words[data-words*='all-reduce sends']")).to_be_attached()
    expect(page.locator(".cm-words[data-words*='reduce-scatter sends']")).to_be_attached()
    row = page.locator(".timeline li[data-of-line^=other-]").first
    row.hover()
    expect(other.locator(".cm-lit")).to_have_count(1)
    expect(page.locator(".cm-lit")).to_have_count(1)
    row.get_by_role("link").click()
    expect(other.locator(".cm-content")).to_be_focused()
    # The settings of the editor are those of both.
    open_settings(page).get_by_label("Text size").select_option("very large")
    sizes = page.locator(".editor:has([data-editor])").evaluate_all(
        "(all) => all.map((each) => each.style.getPropertyValue('--code-size'))"
    )
    assert sizes == ["1.25rem", "1.25rem"]
    assert violations(page) == []


def test_a_compiled_program_is_searched(open_page: OpenPage, explored_path: dict[str, str]) -> None:
    page = _open(open_page, explored_path)
    listing = page.locator("[data-searched]").nth(1)
    everything = listing.get_by_role("listitem").count()
    listing.get_by_label("Find in the HLO that each device runs").fill("reduce-scatter(")
    expect(listing.get_by_role("status")).to_have_text("1 instruction")
    expect(listing.get_by_role("listitem")).to_have_count(1)
    listing.get_by_role("link").hover()
    expect(page.locator(".source-line.is-pointed-at")).to_have_count(1)
    listing.get_by_label("Find in the HLO that each device runs").fill("")
    expect(listing.get_by_role("listitem")).to_have_count(everything)


def _stub_exploration(page: Page, status: str, *, missing: str = "") -> None:
    """Answer for the server from now on: each exploration has this status and a program."""
    state = json.dumps({"status": status, "phase": None} | ({"partial": True} if missing else {}))
    event = f"retry: 50\nevent: status\ndata: {state}\n\n"
    events = {"content_type": "text/event-stream", "body": event}
    part = f'data-partial="{missing}"' if missing else ""
    note = f"<p data-missing>{missing}</p>" if missing else ""
    document = f"""<div data-live-part="{"going" if missing else ""}"><p>Compiling</p></div>
        <div data-result data-notes="{{}}" data-other-notes="{{}}" data-headline="3 collectives" {part}>
        <section class="mesh">Mesh {status}</section>{note}</div>"""
    answer = {"content_type": "text/html", "body": document}
    page.route(re.compile("/explorations/[0-9a-f]+/events$"), lambda route: route.fulfill(**events))
    page.route(re.compile("/explore/[0-9a-f]{32}$"), lambda route: route.fulfill(**answer))


def test_the_editor_sends_what_it_holds(open_page: OpenPage) -> None:
    page = open_page(f"/explore?problem={PROBLEM}")
    box = page.locator(".cm-content").and_(page.get_by_role("textbox", name="Source, Python"))
    box.focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("def nothing_of_the_kind():\n    pass\n")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("There is no program", timeout=VERDICT_TIMEOUT_MS)
    page.get_by_role("link", name="Share this result").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no program")
    page.get_by_role("link", name="Change it and explore again").click()
    expect(page.locator(".cm-content").first).to_contain_text("nothing_of_the_kind")

    # The first mesh is shown while the next one is still being compiled.
    missing = "The next mesh is still being compiled."
    _stub_exploration(page, "running", missing=missing)
    _code(page).focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(SOURCE)
    page.keyboard.press("Control+Enter")
    _await(page, f"^3 collectives. {missing}$")
    pane = page.get_by_role("region", name="What it compiles to")
    expect(pane).to_have_text(re.compile(f"Mesh running *{missing}"))
    _stub_exploration(page, "finished")
    _await(page, "^Compiled: 3 collectives.$")
    expect(pane).to_have_text("Mesh finished")


def test_two_panes_by_keyboard(open_page: OpenPage) -> None:
    page = open_page("/explore")
    pane = page.get_by_role("region", name="What it compiles to")
    # An example shows its result at once, before anything is compiled.
    expect(pane).to_contain_text("all-reduce over model")
    expect(_compiled(page)).to_have_text("What this example compiles to.")
    expect(page.locator(".cm-words[data-words*='all-reduce sends 512.0 KiB']").first).to_be_visible()
    # The switch stays off in this browser.
    switch = page.get_by_label("Compile as you type")
    expect(switch).to_be_checked()
    switch.focus()
    page.keyboard.press("Space")
    _code(page).focus()
    page.keyboard.press("Control+End")
    page.keyboard.press("ArrowUp")
    # The line of the cursor is marked in the result,
    expect(pane.locator(".timeline li.is-pointed-at")).to_contain_text("all-reduce")
    expect(pane.locator(".instructions li.is-pointed-at")).to_have_count(5)
    page.keyboard.press("End")
    page.keyboard.insert_text(" * 2")
    page.keyboard.press("Control+Enter")
    _await(page, "^Compiled: 1 collective")
    expect(page).to_have_url(re.compile(r"/explore\?exploration=\w{32}$"))
    # and a row with the focus marks its line.
    pane.get_by_role("link", name="line 6").first.focus()
    expect(page.locator(".cm-lit")).to_contain_text("return hidden @ w2 * 2")
    page.keyboard.press("Enter")
    expect(_code(page)).to_be_focused()
    page.keyboard.insert_text("# typed and not compiled\n")
    page.reload()
    expect(_code(page)).to_contain_text("# typed and not compiled")
    expect(pane).to_contain_text("all-reduce over model")
    expect(page.get_by_label("Compile as you type")).not_to_be_checked()
    page.get_by_role("separator", name="Width of the left side").focus()
    page.keyboard.press("PageDown")
    expect(page.get_by_role("separator", name="Width of the left side")).to_have_attribute("aria-valuenow", "38")


def test_typing_compiles_at_rest_and_a_fault_keeps_the_result(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page("/explore?example=rows-to-columns", viewport=LAPTOP)
    assert lines_in_sight(page) >= 20
    expect(page.get_by_role("button", name="Explore", exact=True)).to_be_in_viewport(ratio=1)
    _code(page).focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("broken =")
    _await(page, "There is no program")
    pane = page.get_by_role("region", name="What it compiles to")
    expect(pane.get_by_role("alert")).to_contain_text("Below is the last version that compiled.")
    expect(pane).to_contain_text("all-to-all over data")
    first = page.url
    page.keyboard.type(" 1")
    _await(page, "^Compiled: 1 collective")
    expect(pane.get_by_role("alert")).to_have_count(0)
    # The run of what was typed replaced the one before.
    assert page.url != first
    assert page.request.get(first.replace("?exploration=", "/")).status == 404
    line = _unfold_fields(page)
    expect(line).to_have_text(re.compile(r"turned \W data=8 \W 1 input$"))
    page.get_by_role("combobox", name="Mesh").fill("data=x")
    expect(line).to_have_text(re.compile(r"turned \W data=x \W 1 input$"))
    line.press("Enter")
    _await(page, "The mesh cannot be read")
    expect(page.get_by_role("combobox", name="Mesh")).to_be_visible()
    expect(pane).to_contain_text("all-to-all over data")
    # Chromium says that the server refused.
    assert [each for each in complaints if "409 (Conflict)" not in each] == []
    complaints.clear()


def test_a_guest_switches_it_on_and_the_limit_switches_it_off(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page("/explore?example=rows-to-columns", anonymous=True, viewport=LAPTOP)
    assert lines_in_sight(page) >= 20
    expect(page.get_by_role("button", name="Explore", exact=True)).to_be_in_viewport(ratio=1)
    switch = page.get_by_label("Compile as you type")
    expect(switch).not_to_be_checked()
    switch.check()
    _code(page).focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("# typed")
    _await(page, "^Compiled: 1 collective")
    refused = '<main><p class="notice bad">The limit is reached.</p></main>'
    page.route("**/explore", lambda route: route.fulfill(status=429, content_type="text/html", body=refused))
    page.keyboard.type(" on")
    _await(page, "The limit is reached.")
    expect(switch).not_to_be_checked()
    assert [each for each in complaints if "429 (Too Many Requests)" not in each] == []
    complaints.clear()


def test_256_equal_devices_are_a_sentence(open_page: OpenPage) -> None:
    page = open_page("/explore?example=many-devices")
    heat = page.locator("figure.heat")
    expect(heat).to_contain_text("72.0 MiB on each of the 256 devices, of 768.0 MiB in all")
    expect(heat.locator("rect")).to_have_count(0)
    expect(page.locator(".cm-words[data-words*='all-reduce']").first).to_be_visible()


def test_the_gallery_is_walked_by_keyboard_on_a_phone(open_page: OpenPage) -> None:
    page = open_page("/explore", viewport={"width": 360, "height": 740})
    cards = page.locator(".gallery li")
    expect(cards.get_by_role("img", name=re.compile("on mesh"))).to_have_count(10)
    cards.get_by_role("link").nth(3).focus()
    page.keyboard.press("Tab")
    expect(cards.get_by_role("link").nth(4)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Function")).to_have_value("turned")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_result_is_accessible_and_fits(open_page: OpenPage, explored_path: dict[str, str]) -> None:
    page = _open(open_page, explored_path, viewport=WIDE)
    assert list(faults_of(page)) == []


def test_any_function_is_explored_on_a_phone_and_without_a_script(open_page: OpenPage) -> None:
    page = open_page("/explore", java_script_enabled=False, viewport={"width": 360, "height": 740})
    page.get_by_role("link", name="On 256 devices").click()
    expect(page.locator("[data-fields] > summary")).to_contain_text("data=64, model=4")
    page.get_by_role("button", name="Explore", exact=True).click()
    expect(page.get_by_role("heading", name="Mesh data = 64, model = 4")).to_be_visible(timeout=VERDICT_TIMEOUT_MS)
    expect(page.get_by_role("listitem").filter(has_text="all-reduce").first).to_contain_text("line 6")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("link", name="Change it and explore again").click()
    expect(page.get_by_label("Inputs")).to_have_value(re.compile(r"^x: bfloat16\[65536, 4096\]"))


FORM = {"Function": "f", "Mesh": "data=4", "Inputs": 'x: float32[16, 8] P("data")'}
MAIN = "from model import total\n\n\ndef f(x):\n    return total(x)\n"
MODEL = "def total(x):\n    return x.sum(0)\n"


def _name_of_module(page: Page, number: int) -> Locator:
    group = page.get_by_role("group", name=f"Module {number}", exact=True)
    return group.get_by_label("Name of the module")


def test_modules_are_added_and_survive_a_reload(open_page: OpenPage) -> None:
    page = open_page("/explore")
    page.get_by_label("Compile as you type").uncheck()
    _unfold_fields(page)
    for label, text in FORM.items():
        page.get_by_label(label).first.fill(text)
    _code(page).focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(MAIN)
    for _ in range(2):
        page.get_by_role("button", name="Add a module").click()
    expect(_name_of_module(page, 2)).to_be_focused()
    _name_of_module(page, 1).fill("model")
    page.get_by_label("The source of this module, Python").first.fill(MODEL)
    page.get_by_role("group", name="Module 2").get_by_role("button", name="Remove this module").click()
    expect(page.get_by_role("button", name="Add a module")).to_be_focused()
    # The Enter key sends the form, and adds no module.
    page.get_by_role("combobox", name="Mesh").press("Enter")
    _await(page, "Compiled: 1 collective")
    expect(page.get_by_role("group", name="Module 2")).to_have_count(0)
    assert violations(page) == []
    page.reload()
    expect(_name_of_module(page, 1)).to_have_value("model")
    expect(page.get_by_label("The source of this module, Python").first).to_have_value(MODEL)
    page.get_by_role("link", name="Share this result").click()
    page.get_by_text("The module model").click()
    expect(page.get_by_role("region", name="The module model")).to_contain_text("return x.sum(0)")


def test_modules_are_added_on_a_phone_and_without_a_script(open_page: OpenPage) -> None:
    page = open_page("/explore", java_script_enabled=False, viewport={"width": 360, "height": 740})
    _unfold_fields(page)
    for label, text in FORM.items():
        page.get_by_label(label).first.fill(text)
    page.get_by_label("Source, Python").fill(MAIN)
    page.get_by_role("button", name="Add a module").click()
    _unfold_fields(page)
    _name_of_module(page, 1).fill("model")
    page.get_by_label("The source of this module, Python").fill(MODEL)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("combobox", name="Mesh").press("Enter")
    expect(page.get_by_role("heading", name="Mesh data = 4")).to_be_visible(timeout=VERDICT_TIMEOUT_MS)
    expect(page.get_by_role("listitem").filter(has_text="all-reduce").first).to_contain_text("line 5")
