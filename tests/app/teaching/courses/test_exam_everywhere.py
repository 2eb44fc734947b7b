"""Every address that a student can open says the same, whichever verdict an exam hides.

The walk opens each route of the service twice: with an accepted and with a rejected attempt behind it.
"""

import re
from collections import defaultdict
from difflib import unified_diff

import anyio
import pytest
from sqlalchemy import select, update

from app.core.clock import MINUTE, now
from app.core.database import Database
from app.core.outbound_requests import Outside
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import WithheldRow
from app.problems.exams import PARTS
from app.teaching.courses.models import AssignmentRow
from tests.app.accounts.people import browser, send_form, sign_up
from tests.app.authoring.zips import upload
from tests.app.routes import routes_of
from tests.app.teaching.courses.exam_problem import ALL_OPEN, SLUG, TASK, files_of, marks_seen, together
from tests.app.teaching.courses.test_assignments import only_assignment
from tests.app.teaching.courses.test_courses import JSON, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]
VERDICT = ("verdict", "score", "verdict_status", "verdict_reason", "faults", "efficiency")
# Form tokens, ids, and moments.
VARIES = re.compile(
    r"[0-9a-f]{32,}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)?|(?:in )?\d+ (?:s|seconds?|min|minutes?)(?: ago)?|just now"
)
FILTERED = [
    *(f"/attempts?status={each}" for each in ("accepted", "rejected", "failed")),
    "/attempts?reason=wrong_value",
    "/attempts?kind=attempt",
    *(f"/problems?state={each}" for each in ("solved", "tried", "untried", "open", "new")),
    "/problems?sort=state",
    "/api/v1/attempts?problem=add_one",
    "/api/v1/problems/add_one/ranking",
]


async def walk(service, http, owned: dict[str, str]) -> dict[str, str]:
    """What each address answers, except for ids, moments and form tokens."""
    ids = defaultdict(lambda: "0" * 32, slug="add_one", **owned)
    opened = [path.format_map(ids) for method, path in sorted(routes_of(service.app)) if method == "GET"]
    found = {}
    for each in [*opened, *FILTERED]:
        # Numbers of the whole process, which the walk itself changes.
        if "/sign-in" in each or "/lti/" in each or each == "/metrics":
            continue
        accepts = "application/json" if each.startswith("/api/") else "text/html"
        answer = await http.get(each, headers={"Accept": accepts})
        found[each] = f"{answer.status_code} {VARIES.sub('', answer.text)}"
    return found


async def give(service, attempt: str, verdict: dict) -> None:
    async with service.services[Database].writing() as session:
        row = await session.get_one(AttemptRow, attempt)
        for name, value in verdict.items():
            setattr(row, name, value)


async def verdict_of(service, attempt: str, **changes: object) -> dict:
    async with service.services[Database].reading() as session:
        row = await session.get_one(AttemptRow, attempt)
        return {name: getattr(row, name) for name in VERDICT} | changes


async def test_no_address_and_no_webhook_depends_on_a_hidden_verdict(either, people, monkeypatch):
    ada, bob, tess = people
    bodies: list[bytes] = []

    async def receive(self, url, headers, body):
        bodies.append(body)
        return 204

    monkeypatch.setattr(Outside, "post", receive)
    await ada.post("/api/v1/webhooks", json={"url": "https://example.org/hook"}, headers=JSON)
    course = await create(tess, exam=True)
    for http in (ada, bob):
        await join(http, course)
    accepted = await verdict_of(either, await send(either, tess, GOOD), efficiency=120.0)
    rejected = await verdict_of(either, await send(either, tess, "x = 1\n"))
    assert (accepted["verdict_status"], rejected["verdict_status"]) == ("accepted", "rejected")
    attempt = await send(either, ada, GOOD)
    shared = await send_form(ada, f"/attempts/{attempt}", f"/attempts/{attempt}/share")
    owned = {
        "attempt_id": attempt,
        "course_id": course["id"],
        "assignment_id": (await only_assignment(tess, course))["id"],
        "person_id": await me(ada),
    }
    links = re.search(r"/shared/[\w-]+", shared.text)[0]

    async def seen() -> dict[str, str]:
        found = await walk(either, ada, owned)
        async with browser(either) as guest:
            for name, http in (("bob", bob), ("guest", guest), ("ada", ada)):
                for each in (links, f"{links}/verdict", "/problems/add_one", "/problems/add_one/ranking", "/problems"):
                    page = (await http.get(each, headers={"Accept": "text/html"})).text
                    found[f"{each} as {name}"] = VARIES.sub("", page)
        return found

    async def differences() -> dict[str, list[str]]:
        await give(either, attempt, accepted)
        first = await seen()
        await give(either, attempt, rejected)
        second = await seen()
        return {
            each: [*unified_diff(first[each].splitlines(), second[each].splitlines(), n=0, lineterm="")]
            for each in first
            if first[each] != second[each]
        }

    assert await differences() == {}
    with anyio.fail_after(60):
        while not bodies:
            await anyio.sleep(0.02)
    assert b'"verdict":null' in bodies[0]
    assert b"accepted" not in bodies[0]

    # Once it has closed, the same walk sees the verdict in all of these places.
    async with either.services[Database].writing() as session:
        for row in list(await session.scalars(select(WithheldRow))):
            row.until = now() - MINUTE
        await session.execute(update(AssignmentRow).values(due_at=now() - MINUTE))
    told = await differences()
    for each in ("/attempts", f"/attempts/{attempt}", "/progress", f"/api/v1/attempts/{attempt}", f"{links} as bob"):
        assert each in told
    assert "/api/v1/me/export" in told


async def test_no_address_explains_a_published_problem_while_its_exam_is_open(either, people):
    ada, bob, tess = people
    version = (await upload(either, files_of(), SLUG)).json()["version"]
    body = {"version": version, "force": True}
    published = await tess.post(f"/api/v1/problems/{SLUG}/publish", json=body, headers=JSON)
    assert published.status_code == 200, published.text
    for http in (ada, bob):
        await http.post(f"/api/v1/problems/{SLUG}/give-up", json={"confirm": True}, headers=JSON)
    course = await create(tess, exam=True, closed_for="everyone", closes=[*PARTS], problems=[{"problem": SLUG}])
    async with browser(either) as assistant, browser(either) as nobody:
        await sign_up(either, assistant, "tim")
        for http in (ada, assistant):
            await join(http, course)
        role = f"/api/v1/courses/{course['id']}/people/{await me(assistant)}/role"
        assert (await tess.put(role, json={"role": "assistant"}, headers=JSON)).status_code == 204
        assignment = (await only_assignment(tess, course))["id"]

        async def seen() -> dict[str, set[str]]:
            callers = {"ada": ada, "bob": bob, "nobody": nobody, "assistant": assistant}
            owned = {"course_id": course["id"], "assignment_id": assignment}
            return {name: together(await marks_seen(either, http, **owned)) for name, http in callers.items()}

        others = {"bob": TASK, "nobody": TASK}
        assert await seen() == others | {"ada": TASK, "assistant": ALL_OPEN}
        async with either.services[Database].writing() as session:
            await session.execute(update(AssignmentRow).values(opens_at=now() + MINUTE))
        explained = {"ada": ALL_OPEN | {"editorial"}, "bob": ALL_OPEN | {"editorial"}}
        assert await seen() == explained | {"nobody": ALL_OPEN, "assistant": ALL_OPEN}
        async with either.services[Database].writing() as session:
            over = {"opens_at": now() - 3 * MINUTE, "due_at": now() - 2 * MINUTE}
            await session.execute(update(AssignmentRow).values(**over))
        assert await seen() == explained | {"nobody": ALL_OPEN, "assistant": ALL_OPEN}
