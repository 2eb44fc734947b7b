"""Every address that a student can open says the same, whichever verdict an exam hides.

The walk opens each route of the service with a right attempt behind it, with a wrong one, with a wrong one that no
known mistake explains, and with one whose points were changed. All answers must be equal, byte for byte. Assistants see
no more of an exam of another course, and none of it in insight.
"""

import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from difflib import unified_diff
from typing import Any

import anyio
import pytest
from sqlalchemy import JSON as JSON_TYPE
from sqlalchemy import Boolean, Column, Float, Integer, select, update

from app.core.clock import MINUTE, now
from app.core.database import Database, UTCDateTime
from app.core.outbound_requests import Outside
from app.grading.attempts.overrides import ScoreOverride
from app.grading.attempts.views import AttemptJSON, AttemptSummary, OwnInputsJSON, Rejudged
from app.grading.queue.leases import columns_of
from app.grading.queue.models import AttemptRow
from app.grading.queue.status import QueuePlace
from app.grading.queue.withheld_verdicts import Shown, WithheldRow, Withholdable
from app.operations.personal_data import export
from app.operations.webhooks.models import DeliveryRow, WebhookRow
from app.problems.catalogue import Catalogue
from app.problems.exams import PARTS
from app.problems.problem_texts import MetPitfall
from app.teaching.courses.models import AssignmentRow
from app.teaching.courses.rights import RIGHTS
from app.teaching.people.schemas import SourcedAttemptJSON
from grader.verdicts.fingerprint import Fingerprint
from grader.verdicts.verdict import Efficiency, Verdict
from tests.app.accounts.people import PASSWORD, SITE, browser, form_token, send_form, sign_up
from tests.app.authoring.zips import upload
from tests.app.routes import INSTRUCT, routes_of
from tests.app.teaching.courses.exam_problem import ALL_OPEN, SLUG, TASK, files_of, marks_seen, together
from tests.app.teaching.courses.test_assignments import only_assignment
from tests.app.teaching.courses.test_courses import JSON, create, join, people
from tests.app.teaching.people.test_attempts_of_others import GOOD, me, send

pytestmark = pytest.mark.anyio
__all__ = ["people"]
SENT = "# exam\nx = 1\n"
VIEWS = [AttemptSummary, AttemptJSON, SourcedAttemptJSON]
MISCONCEPTION, PITFALL = "Takes one away.", "**Subtracting.** Add one."
# The columns that an exam does not withhold.
SHOWN = AttemptJSON.shown_fields() | export.SENT | {"user_id"}
# What is not the same in two answers to one request, by what it is.
VARIES = {
    "form token": r'(?<=name="form_token" value=")[0-9a-f]{128}',
    "when it was exported": r'(?<="exported_at": ")[^"]+',
    "how long ago it was": r"(?<=>)(?:just now|(?:in )?\d+ \w+(?: ago)?)(?=</time>)|(?<=</time>, )in \d+ \w+",
}
_VARIES = re.compile("|".join(VARIES.values()))
# Headers that say when and for whom a request was answered. An ETag also stands for the time and the browser.
OF_REQUEST = {"x-request-id", "ratelimit", "ratelimit-policy", "retry-after", "set-cookie", "content-length", "etag"}
# They depend on all requests, so the walk itself changes them.
OF_PROCESS = {"/metrics"}


@pytest.fixture
async def either(start_service, database_url):
    async with start_service(database_url=database_url, requests_per_minute=1_000_000) as running:
        yield running


def searched(attempt: str, run: str, course: str) -> list[str]:
    """Addresses with parameters, beside those of the routes."""
    return [
        *(f"/attempts?status={each}" for each in ("accepted", "rejected", "failed", "waiting")),
        "/attempts?reason=wrong_value",
        "/attempts?kind=attempt",
        *(f"/problems?state={each}" for each in ("solved", "tried", "untried", "open", "new")),
        "/problems?sort=state",
        "/api/v1/attempts?problem=add_one",
        f"/attempts/compare?a={attempt}&b={run}",
        f"/api/v1/batch/attempts?id={attempt}&id={run}",
        f"/api/v1/attempts/{attempt}?wait=1",
        *(f"/search{page}?q={each}" for page in ("", "/found") for each in ("add", "accepted", attempt)),
        *(f"/problems/add_one/{each}?course={course}" for each in ("insight", "similarity", "similarity.csv")),
        f"/problems/add_one/similarity?course={course}&attempts=all",
        f"/problems/add_one/insight?course={course}&versions=served",
        *(f"/api/v1/problems/add_one/{each}?course={course}" for each in ("insight", "similarity")),
    ]


async def walk(http, routes: set[tuple[str, str]], owned: dict[str, str], more: list[str]) -> dict[str, str]:
    """What each of these routes that is read with GET answers, and each address in `more`."""
    ids = defaultdict(lambda: "0" * 32, slug="add_one", track="basics", **owned)
    opened = [path.format_map(ids) for method, path in sorted(routes) if method == "GET" and path not in OF_PROCESS]
    return {each: await answer_of(http, "GET", each) for each in [*opened, *more]}


async def answer_of(http, method: str, path: str, **sent: Any) -> str:
    accepts = "application/json" if path.startswith("/api/") else "text/html"
    headers = SITE | {"Accept": accepts, "Accept-Encoding": "identity"}
    answer = await http.request(method, path, headers=headers, **sent)
    shown = [f"{name}: {value}" for name, value in answer.headers.items() if name not in OF_REQUEST]
    # Its length is that of the whole text, which is compared.
    assert int(answer.headers.get("content-length", len(answer.content))) == len(answer.content)
    return "\n".join([str(answer.status_code), *shown, _VARIES.sub("", text_of(answer.content))])


def text_of(content: bytes) -> str:
    """A workbook is an archive; one of its files says when it was made."""
    if not content.startswith(b"PK"):
        return content.decode(errors="backslashreplace")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [each for each in archive.namelist() if each != "docProps/core.xml"]
        return "\n".join(f"{each}: {archive.read(each).decode()}" for each in names)


def states_of(accepted: Verdict, rejected: Verdict) -> dict[str, dict[str, Any]]:
    """Values of all columns that an exam withholds, with each of three verdicts, and if they have nothing to do with
    the verdict, with different values.
    """
    efficient = accepted.model_copy(update={"efficiency": Efficiency(score=120.0, parts=[])})
    # A stored verdict is read without it.
    unexplained = rejected.with_fingerprint(Fingerprint(results={"public-1": {"": "x = 1"}}))
    explained = rejected.model_copy(update={"misconception": MISCONCEPTION, "fingerprint": None, "score": 40})
    columns = AttemptRow.__table__.columns
    found = {}
    for number, (name, verdict) in enumerate(
        {"right": efficient, "wrong": explained, "unexplained": unexplained}.items()
    ):
        values = {each.name: mark_of(each, number) for each in columns if each.name not in SHOWN}
        found[name] = values | columns_of(verdict, counts=True) | {"version": str(number) * 64}
    for column in found["right"]:
        assert len({repr(each[column]) for each in found.values()}) > 1, f"{column} has the same value in each state"
    assert found["unexplained"]["fingerprint"] is not None
    return found


def mark_of(column: Column[Any], number: int) -> Any:
    """A value of the column's type, or None for the first one if it may be."""
    if number == 0 and column.nullable:
        return None
    if isinstance(column.type, UTCDateTime):
        return now() + number * timedelta(days=1)
    if isinstance(column.type, JSON_TYPE):
        return []
    if isinstance(column.type, Boolean):
        return number > 0
    return number if isinstance(column.type, (Integer, Float)) else f"mark {number}"


async def give(service, attempt: str, values: dict[str, Any]) -> None:
    async with service.services[Database].writing() as session:
        row = await session.get_one(AttemptRow, attempt)
        for name, value in values.items():
            setattr(row, name, value)


async def verdict_of(service, attempt: str) -> Verdict:
    async with service.services[Database].reading() as session:
        stored = (await session.get_one(AttemptRow, attempt)).verdict
    assert stored is not None
    return Verdict.model_validate(stored)


async def put_back(service, attempt: str) -> None:
    """Let the attempt be three hours old, so that no page counts its seconds."""
    moment = now() - timedelta(hours=3, minutes=10)
    times = dict.fromkeys(("created_at", "started_at", "finished_at"), moment)
    await give(service, attempt, times)


def differences(first: dict[str, str], second: dict[str, str]) -> str:
    """Where the two differ, and how; empty if they are equal."""
    assert first.keys() == second.keys()
    return "\n".join(
        line
        for each in first
        if first[each] != second[each]
        for line in (each, *unified_diff(first[each].splitlines(), second[each].splitlines(), n=0, lineterm=""))
    )


def explain(service) -> None:
    """Give the statement a pitfall that explains the misconception of the wrong attempt."""
    catalogue = service.services[Catalogue]
    package = catalogue.get("add_one")
    statement = f"{package.statement}\n## Pitfalls\n\n- **Other signs.**\n- {PITFALL}\n"
    catalogue.serve(replace(package, statement=statement, pitfalls={"wrong_value/minus": 2}))
    assert MISCONCEPTION in [each.misunderstanding for each in package.rejected]


class Exam:
    """Ada has sent an attempt in an exam of Tess, and a run.

    Tim assists the course of the exam, and Uma another one of Tess in which Ada is, too; both may do all that an
    assistant may.
    """

    def __init__(self, service, people, assistants, bodies: list[bytes]) -> None:
        self.service, self.bodies = service, bodies
        self.ada, self.bob, self.tess = people
        self.tim, self.uma = assistants

    async def begin(self) -> None:
        service, ada, tess = self.service, self.ada, self.tess
        explain(service)
        self.webhook = (await ada.post("/api/v1/webhooks", json={"url": "https://example.org/"}, headers=JSON)).json()
        self.course = await create(tess, exam=True)
        self.other = await create(tess)
        for http, course in ((ada, self.course), (self.bob, self.course), (ada, self.other)):
            await join(http, course)
        for http, course in ((self.tim, self.course), (self.uma, self.other)):
            await join(http, course)
            person = f"/api/v1/courses/{course['id']}/people/{await me(http)}"
            assert (await tess.put(f"{person}/role", json={"role": "assistant"}, headers=JSON)).status_code == 204
            given = await tess.put(f"{person}/rights", json={"rights": [*RIGHTS]}, headers=JSON)
            assert given.status_code < 300, given.text
        async with service.services[Database].writing() as session:
            # Of a webhook that is newer than the verdict, the exam keeps back what is sent.
            await session.execute(update(WebhookRow).values(created_at=now() - timedelta(hours=4)))
        verdicts = [await verdict_of(service, await send(service, tess, each)) for each in (GOOD, "x = 1\n")]
        assert [each.status for each in verdicts] == ["accepted", "rejected"]
        self.states = states_of(*verdicts)
        self.run = await send(service, ada, SENT, "runs")
        self.attempt = await send(service, ada, SENT)
        for each in (self.run, self.attempt):
            await put_back(service, each)
        page = f"/attempts/{self.attempt}"
        self.link = re.search(r"/shared/[\w-]+", (await send_form(ada, page, f"{page}/share")).text)[0]
        self.owned = {
            "attempt_id": self.attempt,
            "person_id": await me(ada),
            "webhook_id": self.webhook["id"],
            "course_id": self.course["id"],
            "assignment_id": (await only_assignment(tess, self.course))["id"],
        }
        of_other = {"course_id": self.other["id"], "assignment_id": (await only_assignment(tess, self.other))["id"]}
        self.of_other = self.owned | of_other
        # Webhooks come first: what was delivered before is part of what a student reads.
        await self.delivered()

    async def delivered(self) -> bytes:
        """The body that is sent to Ada's webhook now."""
        self.bodies.clear()
        async with self.service.services[Database].writing() as session:
            again = {"delivered_at": None, "next_try_at": now(), "tries": 0, "answer": None}
            await session.execute(update(DeliveryRow).where(DeliveryRow.attempt_id == self.attempt).values(**again))
        with anyio.fail_after(60):
            # The service stores that it was delivered, which `seen` then changes.
            while not self.bodies or not await self._is_stored():
                await anyio.sleep(0.02)
        return self.bodies[0]

    async def _is_stored(self) -> bool:
        mine = DeliveryRow.attempt_id == self.attempt
        async with self.service.services[Database].reading() as session:
            stored = await session.scalars(select(DeliveryRow.id).where(mine, DeliveryRow.delivered_at.is_not(None)))
            return stored.first() is not None

    async def seen(self) -> dict[str, str]:
        """What everybody reads who must not see the verdict."""
        service = self.service
        found = {"webhook": (await self.delivered()).decode()}
        async with self.service.services[Database].writing() as session:
            of_delivery = {"delivered_at": self.sent_at, "next_try_at": None, "tries": 1}
            await session.execute(update(DeliveryRow).values(**of_delivery))
        more = searched(self.attempt, self.run, self.course["id"])
        found |= await walk(self.ada, routes_of(service.app), self.owned, more)
        of_uma = await walk(self.uma, INSTRUCT, self.of_other, searched(self.attempt, self.run, self.other["id"]))
        found |= {f"{path} as uma": each for path, each in of_uma.items()}
        async with browser(service) as guest:
            for name, http in (("bob", self.bob), ("guest", guest), ("ada", self.ada)):
                for each in (
                    self.link,
                    f"{self.link}/verdict",
                    f"{self.link}/card.png",
                    "/problems/add_one",
                    "/problems/add_one/ranking",
                    "/api/v1/problems/add_one/ranking",
                    "/problems",
                ):
                    found[f"{each} as {name}"] = await answer_of(http, "GET", each)
        of_course = f"?course={self.course['id']}"
        for each in ("/problems/add_one/insight", "/api/v1/problems/add_one/insight"):
            found[f"{each} as tim"] = await answer_of(self.tim, "GET", each + of_course)
        return found

    sent_at = datetime.fromisoformat("2026-01-01T00:00:00+00:00")

    async def close(self) -> None:
        async with self.service.services[Database].writing() as session:
            for row in list(await session.scalars(select(WithheldRow))):
                row.until = now() - MINUTE
            await session.execute(update(AssignmentRow).values(due_at=now() - MINUTE))


@pytest.fixture
async def exam(either, people, monkeypatch):
    bodies: list[bytes] = []

    async def receive(self, url, headers, body):
        bodies.append(body)
        return 204

    monkeypatch.setattr(Outside, "post", receive)
    async with browser(either) as tim, browser(either) as uma:
        for name, http in (("tim", tim), ("uma", uma)):
            await sign_up(either, http, name)
        made = Exam(either, people, (tim, uma), bodies)
        await made.begin()
        yield made


async def test_no_address_and_no_webhook_depends_on_a_hidden_verdict(exam):
    seen = {}
    for name, values in exam.states.items():
        await give(exam.service, exam.attempt, values)
        seen[name] = await exam.seen()
    assert '"verdict":null' in seen["right"]["webhook"]
    assert not (found := differences(seen["right"], seen["wrong"])), found
    assert not (found := differences(seen["right"], seen["unexplained"])), found

    # Nor does it tell that somebody changed the points, or that a new version graded it again.
    points = f"/api/v1/people/{exam.owned['person_id']}/attempts/{exam.attempt}/override"
    changed = await exam.tess.put(points, json={"score": 70, "reason": "almost"}, headers=JSON)
    assert changed.status_code == 200, changed.text
    async with exam.service.services[Database].writing() as session:
        row = await session.get_one(AttemptRow, exam.attempt)
        trial = {each.name: getattr(row, each.name) for each in AttemptRow.__table__.columns}
        trial |= {"id": "e" * 32, "kind": "rejudge", "idempotency_key": None, "score": None, "efficiency": None}
        session.add(AttemptRow(**trial))
    assert not (found := differences(seen["right"], await exam.seen())), found
    refused = await exam.uma.put(points, json={"score": 50, "reason": "more"}, headers=JSON)
    assert (refused.status_code, refused.json()["slug"]) == (409, "override-refused")
    # Tim assists the course of the exam, and grades it.
    theirs = (await exam.tim.get(points.removesuffix("/override"), headers=JSON)).json()
    assert (theirs["score"], theirs["verdict"]["status"], theirs["withheld_until"]) == (70, "rejected", None)

    # Once it has closed, all of these addresses tell the verdict.
    await exam.close()
    attempt, person, other = exam.attempt, exam.owned["person_id"], exam.other["id"]
    telling = [
        (exam.ada, "/attempts"),
        (exam.ada, f"/attempts/{attempt}"),
        (exam.ada, "/progress"),
        (exam.ada, f"/api/v1/attempts/{attempt}"),
        (exam.ada, f"/api/v1/attempts/{attempt}/events"),
        (exam.ada, "/api/v1/me/export"),
        (exam.bob, exam.link),
        (exam.uma, f"/people/{person}/attempts"),
        (exam.uma, f"/people/{person}/attempts/{attempt}"),
        (exam.uma, f"/people/{person}/problems/add_one"),
        (exam.uma, f"/courses/{other}/gradebook"),
        (exam.uma, f"/problems/add_one/insight?course={other}"),
        (exam.uma, f"/problems/add_one/similarity?course={other}"),
        (exam.tim, f"/problems/add_one/insight?course={exam.course['id']}"),
    ]
    told = []
    for name in ("right", "wrong"):
        await give(exam.service, attempt, exam.states[name])
        told.append([await exam.delivered(), *[await answer_of(http, "GET", path) for http, path in telling]])
    alike = [path for (_, path), one, two in zip([(None, "webhook"), *telling], *told, strict=True) if one == two]
    assert alike == []


async def test_the_pitfall_of_a_hidden_verdict_is_hidden(exam):
    await give(exam.service, exam.attempt, exam.states["wrong"])
    pages = [f"/attempts/{exam.attempt}", f"/attempts/{exam.attempt}/verdict"]
    rest = f"/api/v1/attempts/{exam.attempt}"
    of_uma = f"/api/v1/people/{exam.owned['person_id']}/attempts/{exam.attempt}"

    async def read() -> tuple[list[bool], list[Any]]:
        shown = ["Subtracting" in (await exam.ada.get(path)).text for path in pages]
        found = [(await http.get(path)).json() for http, path in ((exam.ada, rest), (exam.uma, of_uma))]
        found += [(await exam.ada.get(f"/api/v1/batch/attempts?id={exam.attempt}")).json()["items"][0]["attempt"]]
        found += [json.loads(await exam.delivered())["data"]]
        found += [json.loads((await exam.ada.get(f"{rest}/events")).text.rpartition("data: ")[2])]
        return shown, [each["pitfall"] for each in found]

    assert await read() == ([False] * 2, [None] * 5)
    await exam.close()
    met = {"number": 2, "text": PITFALL, "page": "/problems/add_one#s-pitfalls"}
    assert await read() == ([True] * 2, [met] * 5)
    await give(exam.service, exam.attempt, exam.states["unexplained"])
    assert await read() == ([False] * 2, [None] * 5)


# What a route is sent, where an empty body says nothing.
BODIES: dict[str, dict[str, Any]] = {
    "/api/v1/problems/{slug}/give-up": {"json": {"confirm": True}},
    "/api/v1/problems/{slug}/attempts": {"json": {"source": SENT}},
    "/api/v1/problems/{slug}/runs": {"json": {"source": SENT}},
    "/api/v1/batch/attempts": {"json": {"items": [{"problem": "add_one", "kind": "attempt", "source": SENT}]}},
    "/api/v1/attempts/{attempt_id}/comments/{comment_id}": {"json": {"resolved": True}},
    "/api/v1/people/{person_id}/attempts/{attempt_id}/override": {"json": {"score": 100, "reason": "x"}},
}
# What is new in each answer: ids, links, moments, and the place in the queue.
NEW = re.compile(
    r"[0-9a-f]{32,}|(?<=/shared/)[\w-]+|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)?|\d+ \w{3} \d{4}, \d\d:\d\d UTC"
    r'|(?<="queue":){[^}]*}'
)


async def send_all(http, routes: Iterable[tuple[str, str]], owned: dict[str, str]) -> dict[str, str]:
    """What each route that changes something answers. The one that ends the session is last."""
    ids = defaultdict(lambda: "0" * 32, slug="add_one", track="basics", **owned)
    routes = sorted(each for each in routes if each[0] != "GET")
    routes.sort(key=lambda each: each == ("POST", "/sign-out"))
    token = form_token((await http.get("/account", headers={"Accept": "text/html"})).text)
    found = {}
    for method, path in routes:
        form = {} if path.startswith("/api/") else {"data": {"form_token": token, "source": SENT, "confirm": "on"}}
        answer = await answer_of(http, method, path.format_map(ids), **BODIES.get(path, form))
        found[f"{method} {path}"] = NEW.sub("", answer)
    return found


async def test_no_route_that_changes_something_depends_on_a_hidden_verdict(exam):
    sent = {}
    for name, values in exam.states.items():
        await give(exam.service, exam.attempt, values)
        sent[name] = await send_all(exam.ada, routes_of(exam.service.app), exam.owned | {"webhook_id": "0" * 32})
        graded = {each for each in INSTRUCT if "{attempt_id}" in each[1]}
        of_uma = await send_all(exam.uma, graded, exam.of_other)
        sent[name] |= {f"{path} as uma": each for path, each in of_uma.items()}
        back = await send_form(exam.ada, "/sign-in", "/sign-in", name="ada", password=PASSWORD)
        assert back.status_code == 303, back.text
    assert sent["right"]["POST /attempts/{attempt_id}/cancel"].startswith("303")
    assert sent["right"]["POST /attempts/{attempt_id}/share"].startswith("200")
    assert not (found := differences(sent["right"], sent["wrong"])), found
    assert not (found := differences(sent["right"], sent["unexplained"])), found


async def test_no_address_tells_a_field_that_is_not_marked(exam, monkeypatch):
    """A field that is added tomorrow is like `variant` without its mark, and so is a column."""
    await give(exam.service, exam.attempt, exam.states["wrong"] | {"variant": "VARIANT-MARK"})
    telling = {f"/attempts/{exam.attempt}", f"/api/v1/attempts/{exam.attempt}", "/api/v1/me/export", "webhook"}

    async def read() -> set[str]:
        return {path for path, text in (await exam.seen()).items() if "VARIANT-MARK" in text}

    assert telling < await read()
    for view in VIEWS:
        if "variant" in view.model_fields:
            monkeypatch.setattr(view.model_fields["variant"], "metadata", [])
    assert await read() == set()


def values_of(view: type[Withholdable]) -> dict[str, Any]:
    """A value for each field, none of them null or false."""
    row = {each.name: mark_of(each, 1) for each in AttemptRow.__table__.columns}
    verdict = {"problem": "add_one", "version": "1", "status": "rejected", "reason": "time_limit", "score": 0}
    values = row | {
        "kind": "attempt",
        "status": "finished",
        "verdict": Verdict.model_validate(verdict | {"checks": [], "cases": [], "walls": []}),
        "verdict_status": "rejected",
        "verdict_reason": "time_limit",
        "changed_by_hand": True,
        "rejudged": Rejudged(at=now(), score_before=1),
        "override": ScoreOverride(score=1, score_before=2, by="tess", at=now(), reason="x"),
        "queue": QueuePlace(ahead=1, expected_wait_s=1),
        "inputs": OwnInputsJSON(seed=1),
        "withheld_until": now(),
        "pitfall": MetPitfall(number=2, text=PITFALL, page="/problems/add_one#s-pitfalls"),
    }
    return {name: values[name] for name in view.model_fields}


@pytest.mark.parametrize("view", VIEWS)
def test_only_marked_fields_have_a_value(view):
    whole = view(**values_of(view))
    assert all(getattr(whole, name) not in (None, False) for name in view.model_fields)
    until = now()
    seen = whole.withheld(until)
    told = {name for name in view.model_fields if getattr(seen, name) not in (None, False)}
    assert told == view.shown_fields() & view.model_fields.keys()
    assert told - {"inputs", "queue", "withheld_until"} <= SHOWN
    assert seen.withheld_until == until


@pytest.mark.parametrize("view", VIEWS)
def test_a_made_up_field_is_withheld_until_somebody_marks_it(view):
    class Tomorrow(view):
        unmarked: str | None
        marked: Shown[str | None]

    attempt = Tomorrow(**values_of(view), unmarked="told", marked="told")
    assert (attempt.unmarked, attempt.marked) == ("told", "told")
    seen = attempt.withheld(now())
    assert (seen.unmarked, seen.marked) == (None, "told")


def test_every_view_of_an_attempt_is_tested():
    found, seen = [Withholdable], set()
    while found:
        below = [each for each in found.pop().__subclasses__() if each.__module__.startswith("app.")]
        found += below
        seen |= set(below)
    assert seen == set(VIEWS)


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
