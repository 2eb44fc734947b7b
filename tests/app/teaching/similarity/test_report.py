"""The similarity report of a problem: for instructors, of students, and in the audit log."""

import re
import uuid

import pytest
from sqlalchemy import inspect, select, update

from app.accounts.models import UserRow
from app.core.database import Database
from app.grading.queue.models import AttemptRow
from tests.app.accounts.people import SITE, browser, sign_in, sign_up
from tests.app.teaching.courses.test_courses import create, join
from tests.app.teaching.people.test_attempts_of_others import GOOD, send
from tests.app.teaching.similarity.disguises import renamed
from tests.app.teaching.similarity.labelled import SOLUTIONS

pytestmark = pytest.mark.anyio
PATH = "/problems/add_one/similarity"
# One of them has a longer addition than the others, so its shares are lower.
NAMES = ("ada", "bea", "cyd", "dan", "eli", "fay", "gus", "hal", "ian", "joe")
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
            async with either.services[Database].writing() as session:
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


def source_of(number: int) -> str:
    """The first three are identical. Each further one adds another function, the last one a long one.

    Those after NAMES copy nobody. Without them, what all have in common would say nothing.
    """
    if number >= len(NAMES):
        return SOLUTIONS[number - len(NAMES) + 1]
    lines = 40 if number == len(NAMES) - 1 else 1 + number % 2
    added = "".join(f"    t{each} = a * {number}.{each} + b[{each}:{number}]\n" for each in range(lines))
    return SOLUTIONS[0] + ("" if number < 3 else f"\n\ndef extra_{number}(a, b):\n{added}    return t0\n")


async def copy_to_all(service, attempt_id: str) -> None:
    """Give everybody in NAMES, and six others, an attempt like this one, with a source of their own."""
    async with service.services[Database].writing() as session:
        attempt = (await session.execute(select(AttemptRow).where(AttemptRow.id == attempt_id))).scalar_one()
        user = await session.get(UserRow, attempt.user_id)
        columns = {each.key: getattr(attempt, each.key) for each in inspect(AttemptRow).column_attrs}
        for number, name in enumerate((*NAMES, *(f"other{each}" for each in range(6)))):
            person = UserRow(id=uuid.uuid4().hex, name=name, role="student", created_at=user.created_at)
            session.add(person)
            await session.flush()
            own = {"id": uuid.uuid4().hex, "user_id": person.id, "source": source_of(number), "idempotency_key": None}
            session.add(AttemptRow(**{**columns, **own}))
        await session.delete(attempt)


def pairs_of(page: str) -> list[tuple[int, str]]:
    return [
        (int(share), names) for share, names in re.findall(r'number">(\d+)%</td>\s*<td><a href="[^"]+">(.*?)</a>', page)
    ]


async def test_many_pairs_fold_and_the_address_filters_them(shared_service):
    await sign_in(shared_service)
    async with browser(shared_service) as tess, browser(shared_service) as student:
        await sign_up(shared_service, tess, "tess", "instructor")
        await sign_up(shared_service, student, "sam")
        await copy_to_all(shared_service, await send(shared_service, student, GOOD))

        async def page(**query: str) -> str:
            answer = await tess.get(PATH, params=query, headers={"Accept": "text/html"})
            assert answer.status_code == 200
            return answer.text

        everything = await page()
        pairs = pairs_of(everything)
        assert len(pairs) == 28  # of eight: the three that are identical count once
        assert [share for share, _ in pairs] == sorted((share for share, _ in pairs), reverse=True)
        before, after = everything.split('<details class="part">')
        assert (len(pairs_of(before)), len(pairs_of(after))) == (25, 3)
        assert f"<summary>Pairs 26 to 28: {pairs[25][0]}%" in after
        assert "28 pairs, highest share first." in everything

        least = pairs[10][0]
        some = await page(share=str(least))
        assert pairs_of(some) == [each for each in pairs if each[0] >= least]
        assert 0 < len(pairs_of(some)) < 28
        assert 'name="share" type="number" min="50" max="100" value="' + str(least) in some

        of_dan = await page(q="DAN")
        assert pairs_of(of_dan) == [each for each in pairs if "dan" in each[1]]
        assert len(pairs_of(of_dan)) == 7
        assert "identical submissions" not in of_dan
        # In pairs, the first of a group stands for all of it.
        of_cyd = await page(q="cyd")
        assert pairs_of(of_cyd) == [each for each in pairs if "ada" in each[1]]
        assert "3 identical submissions" in of_cyd

        for dropped in ("abc", "49", "101", "-1", "9" * 5000, ""):
            assert pairs_of(await page(share=dropped)) == pairs
        nobody = await page(q="<zoe>")
        assert "No pair matches this filter" in nobody
        assert "<zoe>" not in nobody
