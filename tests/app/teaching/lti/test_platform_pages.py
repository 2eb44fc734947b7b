"""The page on which an owner registers platforms, before there is one."""

import pytest

from app.core.database import Database
from app.teaching.lti.keys import ToolKeys
from tests.app.accounts.people import sign_in

pytestmark = pytest.mark.anyio


async def test_the_page_opens_before_there_is_a_key(either):
    await sign_in(either)
    page = await either.http.get("/lti/platforms", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert await ToolKeys(either.services[Database], b"secret").views() == []
