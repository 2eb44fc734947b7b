"""The page of an attempt shows its whole source, coloured unless that takes too long."""

import html
import re

import pytest

pytestmark = pytest.mark.anyio
LINE = "x = 'a < b'  # & so on\n"


async def shown(service, source: str) -> str:
    answer = await service.http.post(
        "/api/v1/problems/add_one/attempts?wait=60", json={"source": source}, headers=service.bearer
    )
    page = await service.http.get(f"/attempts/{answer.json()['id']}", headers=service.bearer)
    assert page.status_code == 200
    found = re.search(r'<pre class="source"[^>]*><code>(.*?)</code>', page.text, re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize("lines", [3, 300, 900])
async def test_a_source_is_shown_whole_and_in_colours(service, lines):
    for _ in range(2):  # the second page comes from the cache, and is the same
        code = await shown(service, LINE * lines)
        assert "<span" in code
        assert html.unescape(re.sub(r"</?span[^>]*>", "", code)) == LINE * lines
