"""The graph on the page of the Explorer, and the same in a table."""

import re

import pytest

from tests.app.learning.explorer.conftest import Measuring
from tests.app.learning.explorer.test_api import ended, explore

pytestmark = pytest.mark.anyio


@pytest.fixture
async def measuring(start_service, database_url):
    async with start_service(Measuring(), database_url=database_url) as service:
        yield service


async def test_the_graph_of_an_example_is_drawn_and_listed(measuring):
    page = (await measuring.http.get("/explore?example=training-step")).text
    drawn, _, table = page.partition("The graph as a table")
    assert re.search(r'<a href="#line-\d+" data-of-line="line-\d+" aria-label="all-gather over fsdp, 2 together', drawn)
    rows = table.partition("</table>")[0].split("<tr")[2:]
    assert len(rows) == 12
    assert "1 group of 8" in rows[4]
    assert 'href="#line-11"' in rows[4]


async def test_each_version_has_its_graph(measuring):
    found = await ended(measuring, await explore(measuring, "gather = 1", against="gather = 2"))
    page = (await measuring.http.get(f"/explore/{found['id']}", headers=measuring.bearer)).text
    assert page.count('class="drawing drawing-graph"') == 4
    assert 'href="#other-1" data-of-line="other-1" aria-label="all-gather over x' in page


async def test_a_program_without_a_graph_shows_none(measuring):
    found = await ended(measuring, await explore(measuring, "x = 1"))
    page = (await measuring.http.get(f"/explore/{found['id']}", headers=measuring.bearer)).text
    assert "drawing-graph" not in page
