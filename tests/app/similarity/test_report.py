"""The similarity report of a problem: for instructors, of students, and in the audit log."""

import re

import pytest
from sqlalchemy import update

from app.queue.models import AttemptRow
from tests.app.accounts.people import SITE, browser, sign_in, sign_up
from tests.app.courses.test_courses import create, join
from tests.app.people.test_attempts_of_others import GOOD, send
from tests.app.similarity.labelled import SOLUTIONS, renamed

pytestmark = pytest.mark.anyio
PATH = "/problems/add_one/similarity"
JSON = SITE | {"Accept": "application/json"}


async def test_copies_are_paired_and_marked_and_each_look_is_recorded(either):
    await sign_in(either)
    sources = {"ada": SOLUTIONS[0], "bob": renamed(SOLUTIONS[0]), "eve": SOLUTIONS[4], "tess": SOLUTIONS[0]}
    async with browser(either) as tess, browser(either) as ada, browser(either) as bob, browser(either) as eve:
        await sign_up(either, tess, "tess", "instructor")
        https = {"ada": ada, "bob": bob, "eve": eve, "tess": tess}
        for name, http in https.items():
            if name != "tess":
                await sign_up(either, http, name)
            attempt_id = await send(either, http, GOOD)
            async with either.services.database.writing() as session:
                change = update(AttemptRow).where(AttemptRow.id == attempt_id)
                await session.execute(change.values(source=sources[name]))
        report = (await tess.get(f"/api/v1{PATH}")).json()
        assert (report["people"], report["left_out"]) == (3, 0)  # without the instructor
        [pair] = report["pairs"]
        assert (pair["one"]["user"]["name"], pair["other"]["user"]["name"]) == ("ada", "bob")
        assert pair["share"] > 0.9
        page = (await tess.get(PATH)).text
        address = re.search(rf'href="({PATH}/\w+/\w+)">ada and bob', page)[1]
        both = (await tess.get(address)).text
        assert "<mark>        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)</mark>" in both
        assert (await tess.get(f"{PATH}/{'0' * 32}/{'1' * 32}")).status_code == 404
        course = await create(tess)
        for http in (ada, eve):
            await join(http, course)
        of_course = (await tess.get(f"/api/v1{PATH}", params={"course": course["id"]})).json()
        assert (of_course["people"], of_course["pairs"]) == (2, [])
        assert "No similar pairs" in (await tess.get(PATH, params={"course": course["id"]})).text
        assert (await tess.get(PATH, params={"course": "0" * 32})).status_code == 404
        for path in (PATH, f"/api/v1{PATH}", address):
            assert (await ada.get(path)).status_code == 403
        log = (await either.http.get("/api/v1/audit", headers=either.bearer)).json()["entries"]
    looks = [(each["action"], each["actor"]["name"], (each["whom"] or {}).get("name")) for each in log]
    assert looks.count(("similarity-read", "tess", None)) == 4
    assert ("similarity-compared", "tess", "ada") in looks
    assert ("similarity-compared", "tess", "bob") in looks
