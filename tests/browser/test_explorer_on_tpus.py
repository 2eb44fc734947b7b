"""The part of the Explorer on TPUs, from a result in the database, because these tests have no compiler for TPUs."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.browser import Service
from tests.browser.stored_attempts import database, owner_of
from tests.browser.stored_explorations import store_exploration_on_tpus
from tests.browser.workbench import OpenPage

ID = "7e" * 16


@pytest.fixture(scope="module", autouse=True)
def result(service: Service) -> Iterator[None]:
    with database(service) as connection:
        store_exploration_on_tpus(connection, owner_of(connection), ID)
    yield
    with database(service) as connection:
        connection.execute("DELETE FROM explorations WHERE id = ?", (ID,))


def test_a_collective_on_tpus_leads_to_its_line(open_page: OpenPage) -> None:
    page = open_page(f"/explore/{ID}")
    on_chip, host = (page.get_by_role("heading", name=each) for each in ("On TPUs, v5e:2x4", "Memory and work"))
    expect(host).to_be_visible()
    expect(on_chip).to_be_hidden()
    page.emulate_media(media="print")
    expect(host).to_be_visible()
    expect(on_chip).to_be_visible()
    page.emulate_media(media="screen")
    page.get_by_role("radio", name="Host CPUs").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="TPU v5e")).to_be_checked()
    expect(host).to_be_hidden()
    expect(on_chip).to_be_visible()
    expect(page.get_by_role("img", name="the compiler's schedule").first).to_be_visible()
    backward = page.get_by_role("table").filter(has=page.get_by_text("Part 2, which runs 4 times"))
    row = backward.get_by_role("row").filter(has_text="reduce-scatter")
    expect(row).to_contain_text("nothing (everything else waits, about 55,159 cycles)")
    row.get_by_role("link", name="line 19").hover()
    expect(page.locator("#line-19")).to_have_class("source-line is-pointed-at")
