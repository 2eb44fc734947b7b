"""What pages keep for all readers says nothing about one of them."""

import re

import pytest

from app.core.web.kept_parts import KeptParts
from app.core.web.templating import ENVIRONMENT
from tests.app.accounts.people import browser, sign_up
from tests.app.entry.test_statements_of_pages import PAGES

pytestmark = pytest.mark.anyio
_TOKEN = re.compile(r'name="form_token" value="\w+"')
ORIGIN = {"Origin": "http://meshgrade.test"}


async def test_a_page_does_not_depend_on_who_read_it_before(service):
    [extension] = [each for each in ENVIRONMENT.extensions.values() if isinstance(each, KeptParts)]
    parts = extension._kept
    async with browser(service) as ada, browser(service) as grace:
        for http, name in ((ada, "ada-lovelace"), (grace, "grace-hopper")):
            await sign_up(service, http, name)
        sent = await ada.post(
            "/api/v1/problems/add_one/attempts",
            json={"source": "def add_one(x): return 1 + x  # sent by one reader\n"},
            headers=ORIGIN,
            params={"wait": 60},
        )
        assert sent.json()["status"] == "finished"
        for page in (each for each in PAGES if "{id}" not in each):
            parts.clear()
            await ada.get(page)
            after_ada = (await grace.get(page)).text
            parts.clear()
            alone = (await grace.get(page)).text
            assert _TOKEN.search(alone)
            assert _TOKEN.sub("", after_ada) == _TOKEN.sub("", alone), page
            assert "ada-lovelace" not in after_ada
            assert "sent by one reader" not in after_ada
            await ada.get(page)
            assert not [each for each in parts.values() if "form_token" in each or "ada-lovelace" in each], page
