"""The part of the Explorer on TPUs, from a result in the database, because these tests have no compiler for TPUs."""

import json
import sqlite3
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from grader.explorer.description import explored
from grader.inputs.explored_function import read_function
from tests.app.learning.explorer.conftest import Measuring
from tests.browser.browser import Service
from tests.browser.workbench import OpenPage

ID = "7e" * 16
FUNCTION = read_function("f", "x=8", 'a: float32[8] P("x")')


@pytest.fixture(scope="module", autouse=True)
def stored(service: Service) -> Iterator[None]:
    result = explored(Measuring().inspect_function(FUNCTION, "gather = 1", None, chip="v5e"))
    row = {
        "id": ID,
        "digest": "0" * 64,
        "function": FUNCTION.model_dump_json(),
        "source": "gather = 1\n" * 40,
        "chip": "v5e",
        "result": json.dumps(result.model_dump(mode="json")),
        "status": "finished",
        "tries": 1,
        "created_at": "2026-01-05 09:30:00.000000",
        "finished_at": "2026-01-05 09:30:02.000000",
    }
    with sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=30) as connection:
        (row["user_id"],) = connection.execute("SELECT id FROM users WHERE role = 'owner'").fetchone()
        places = ", ".join("?" * len(row))
        names = ", ".join(f'"{name}"' for name in row)
        connection.execute(f"INSERT INTO explorations ({names}) VALUES ({places})", tuple(row.values()))
    connection.close()
    yield
    with sqlite3.connect(service.data / "meshgrade.sqlite3", timeout=30) as connection:
        connection.execute("DELETE FROM explorations WHERE id = ?", (ID,))
    connection.close()


def test_a_collective_on_tpus_leads_to_its_line(open_page: OpenPage) -> None:
    page = open_page(f"/explore/{ID}")
    expect(page.get_by_role("heading", name="On TPUs, v5e:2x4")).to_be_visible()
    backward = page.get_by_role("table").filter(has=page.get_by_text("Part 2, which runs 4 times"))
    row = backward.get_by_role("row").filter(has_text="reduce-scatter")
    expect(row).to_contain_text("nothing (everything else waits, about 55,159 cycles)")
    row.get_by_role("link", name="line 19").hover()
    expect(page.locator("#line-19")).to_have_class("source-line is-pointed-at")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 360)])
def test_the_part_on_tpus_has_no_violation(open_page: OpenPage, scheme: str, width: int) -> None:
    page = open_page(f"/explore/{ID}", color_scheme=scheme, viewport={"width": width, "height": 740})
    expect(page.get_by_role("img", name="the compiler's schedule").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in found] == []
