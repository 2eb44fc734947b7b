"""Calculators and the comparison: without a script, by keyboard, as one types, and with inputs that are refused."""

from playwright.sync_api import expect

from tests.browser.accessibility import violations, violations_of_colour
from tests.browser.visits import LAPTOP
from tests.browser.workbench import OpenPage


def test_a_guest_calculates_without_a_script_and_without_a_mouse(open_page: OpenPage) -> None:
    page = open_page("/calculators/state", anonymous=True, java_script_enabled=False)
    page.get_by_label("Parameters", exact=True).fill("70e9")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Strategy")).to_be_focused()
    page.get_by_label("Devices", exact=True).fill("64")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Results")).to_contain_text("15,312,500,004 bytes")
    page.get_by_role("link", name="Link to this result").click()
    expect(page.get_by_label("Parameters", exact=True)).to_have_value("70000000000")
    page.get_by_role("link", name="Llama 3.1 405B").first.click()
    expect(page.get_by_label("Parameters", exact=True)).to_have_value("405853388800")
    expect(page.get_by_label("Devices", exact=True)).to_have_value("64")


def test_a_refused_input_is_linked_and_marked(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page("/calculators/state?strategy=hsdp&group=3", viewport={"width": 360, "height": 740})
    complaints.clear()  # the browser logs the 422 itself
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations_of_colour(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("alert").get_by_role("link", name="Group size").click()
    field = page.get_by_role("textbox", name="Group size")
    expect(field).to_be_in_viewport()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description("HSDP only: devices that share one copy. 3 does not divide the number "
        "of devices (8): 2 would be left over.")  # fmt: skip


def test_a_phone_shows_the_result_first_and_every_input_without_a_script(open_page: OpenPage) -> None:
    page = open_page(
        "/calculators/peak-memory", anonymous=True, java_script_enabled=False, viewport={"width": 360, "height": 740}
    )
    expect(page.get_by_role("region", name="Results").get_by_text("GiB").first).to_be_in_viewport(ratio=1)
    assert page.locator("main").bounding_box()["height"] < 3_600
    every = page.get_by_role("region", name="Every result and its formula").get_by_role("group")
    assert every.evaluate("node => node.scrollWidth <= node.clientWidth")
    layers = page.get_by_label("Layers", exact=True)
    expect(layers).to_be_hidden()
    page.get_by_text("Shape of the model").click()
    layers.fill("64")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Layers 64 · Hidden size 4096")).to_be_visible()


def test_results_follow_what_is_typed_and_stay_while_an_input_is_wrong(
    open_page: OpenPage, complaints: list[str]
) -> None:
    page = open_page("/calculators/state?devices=8", anonymous=True, viewport=LAPTOP)
    numbers, plot = page.locator("[data-calculated=numbers]"), page.locator("[data-calculated=plot]")
    beside = [each.bounding_box() for each in (numbers, plot)]
    assert beside[1]["x"] >= beside[0]["x"] + beside[0]["width"]
    assert beside[1]["y"] == beside[0]["y"]
    expect(page.get_by_role("button", name="Calculate")).to_be_hidden()
    page.get_by_text("The same numbers as a table").click()
    devices = page.get_by_label("Devices", exact=True)
    first = numbers.locator("dd").all_text_contents()
    devices.fill("64")
    page.wait_for_url("**devices=64**")
    last = numbers.locator("dd").all_text_contents()
    assert last != first
    expect(devices).to_be_focused()
    expect(page.get_by_role("region", name="State and gradients").get_by_role("table")).to_be_visible()
    devices.fill("0")
    expect(devices).to_have_accessible_description("All of them together. Enter a number from 1 to 1,048,576.")
    expect(numbers).to_contain_text("The last numbers. Devices: Enter a number from 1 to 1,048,576.")
    assert numbers.locator("dd").all_text_contents() == last
    assert "devices=64" in page.url
    assert violations(page) == []
    complaints.clear()  # the browser logs the 422 itself
    page.get_by_role("link", name="Llama 3.1 70B", exact=True).click()
    expect(page.get_by_label("Parameters", exact=True)).to_have_value("70553706496")
    expect(devices).to_have_value("64")
    expect(devices).not_to_have_attribute("aria-invalid", "true")
    expect(numbers.get_by_text("The last numbers")).to_be_hidden()


def test_the_comparison_switches_between_chips_without_a_script(open_page: OpenPage) -> None:
    page = open_page("/comparison", anonymous=True, java_script_enabled=False)
    expect(page.get_by_role("table", name="Bytes on each of 8 host CPUs")).to_be_visible()
    page.get_by_role("radio", name="8 host CPUs").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("table", name="Bytes on each of 8 H100s")).to_be_visible()
    expect(page.get_by_role("table", name="Bytes on each of 8 host CPUs")).to_be_hidden()
