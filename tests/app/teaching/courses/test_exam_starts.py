"""An exam that each student starts: with a time of their own, a password, and only from certain networks."""

import re
from datetime import datetime, timedelta

import pytest
from sqlalchemy import update

from app.core.clock import end_of_minute, now
from app.core.database import Database
from app.teaching.courses.exam_access import ends_at, is_within
from app.teaching.courses.models import AssignmentRow, ExamStartRow
from tests.app.accounts.people import SITE, form_token, send_form
from tests.app.teaching.courses.exam_problem import SLUG, SOLUTION, TASK, give, marks_seen, together
from tests.app.teaching.courses.test_courses import JSON, at, changes_in, join, people
from tests.app.teaching.courses.test_open_exams import HTML, end
from tests.app.teaching.people.test_attempts_of_others import me

pytestmark = pytest.mark.anyio
__all__ = ["people"]
# The address of the tests' client.
HERE, ELSEWHERE = "127.0.0.0/8", "192.0.2.0/24"


async def make(service, tess, **settings: object) -> tuple[dict, str]:
    """A course with an exam of a private problem, and the path of the exam."""
    course = (await tess.post("/api/v1/courses", json={"name": "JAX", "time_zone": "UTC"}, headers=JSON)).json()
    await give(service, tess, course)
    body = {"name": "Exam", "exam": True, "opens": at(hours=-1), "due": at(hours=2), "problems": [{"problem": SLUG}]}
    answer = await tess.post(f"/api/v1/courses/{course['id']}/assignments", json=body | settings, headers=JSON)
    assert answer.status_code == 201, answer.text
    return course, f"/courses/{course['id']}/assignments/{answer.json()['id']}"


async def start(http, path: str, password: str = ""):
    return await http.post(f"/api/v1{path}/start", json={"password": password}, headers=JSON)


async def submit(http):
    return await http.post(f"/api/v1/problems/{SLUG}/attempts?wait=60", json={"source": SOLUTION}, headers=JSON)


async def test_each_student_has_their_own_time_from_their_start(either, people):
    ada, bob, tess = people
    course, path = await make(either, tess, duration_minutes=30)
    await join(ada, course)
    assert not together(await marks_seen(either, ada))
    [listed] = (await ada.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    assert (listed["problems"], listed["duration_minutes"]) == ([], 30)
    page = (await ada.get(f"{path}/exam", headers=HTML)).text
    assert "you have 30 minutes, but no longer than until the exam is due" in page
    assert SLUG not in page
    assert (await submit(ada)).json()["slug"] == "problem-not-found"
    assert (await bob.get(f"{path}/exam", headers=HTML)).status_code == 404
    assert (await start(tess, path)).status_code == 403

    begun = await send_form(ada, f"{path}/exam", f"{path}/start")
    assert (begun.status_code, begun.headers["location"]) == (303, f"{path}/exam")
    mine = (await ada.get(f"/api/v1{path}/start")).json()
    started, ends = (datetime.fromisoformat(mine[each]) for each in ("started_at", "ends_at"))
    assert ends - started == timedelta(minutes=30)
    assert (await start(ada, path)).json() == mine
    page = (await ada.get(f"{path}/exam", headers=HTML)).text
    assert "Time left:" in page
    assert f"/problems/{SLUG}" in page
    assert together(await marks_seen(either, ada)) == TASK
    assert (await submit(ada)).status_code == 200

    async with either.services[Database].writing() as session:
        await session.execute(update(ExamStartRow).values(started_at=now() - timedelta(minutes=31)))
    refused = (await submit(ada)).json()
    assert (refused["slug"], "Your time for the assignment 'Exam' of 'JAX' is over" in refused["detail"]) == (
        "exam-time-over",
        True,
    )
    more = {"extra_minutes": 10, "reason": "dyslexia"}
    await tess.put(f"/api/v1{path}/extensions/{await me(ada)}", json=more, headers=JSON)
    assert (await submit(ada)).status_code == 200
    # Data about a person has it, too.
    assert len((await ada.get("/api/v1/me/export")).json()["exam_starts"]) == 1


async def test_a_published_problem_also_needs_the_start(either, people):
    ada, _, tess = people
    course, path = await make(either, tess, duration_minutes=30, problems=[{"problem": "add_one"}])
    await join(ada, course)

    async def try_it():
        body = {"source": "x = 1\n"}
        return await ada.post("/api/v1/problems/add_one/attempts?wait=60", json=body, headers=JSON)

    async def page() -> str:
        return (await ada.get("/problems/add_one", headers=HTML)).text

    refused = (await try_it()).json()
    assert (refused["slug"], f"{path}/exam" in refused["detail"]) == ("exam-not-started", True)
    assert f'part of <a href="{path}/exam">your exam</a>' in await page()
    assert "data-due" not in await page()
    mine = (await start(ada, path)).json()
    assert (await try_it()).status_code == 200
    # The time that is left is that of the student, not of the exam.
    due = re.search('Time left: <span class="number" data-due="([^"]+)"', await page())
    assert due
    assert datetime.fromisoformat(due[1]) == datetime.fromisoformat(mine["ends_at"]).replace(microsecond=0)
    async with either.services[Database].writing() as session:
        await session.execute(update(ExamStartRow).values(started_at=now() - timedelta(minutes=31)))
    assert (await try_it()).status_code == 403
    assert "Your time is over: what you submit now is refused." in await page()
    await end(either)
    assert (await try_it()).status_code == 200


async def test_runs_are_refused_as_attempts_are(either, people):
    """Outside the student's own time and from another network, in the browser and over REST, in the same words."""
    ada, _, tess = people
    course, path = await make(either, tess, duration_minutes=30, problems=[{"problem": "add_one"}])
    await join(ada, course)

    async def refusals() -> list[dict]:
        body = {"source": "def add_one(x): return x + 1\n"}
        kinds = ("attempts", "runs")
        answers = [
            await ada.post(f"/api/v1/problems/add_one/{each}?wait=60", json=body, headers=JSON) for each in kinds
        ]
        return [each.json() for each in answers if each.status_code == 403]

    async def words(slug: str) -> str:
        attempt, run = await refusals()
        assert (attempt["slug"], run) == (slug, attempt)
        token = form_token((await ada.get("/problems/add_one", headers=HTML)).text)
        form = {"form_token": token, "source": "x = 1\n", "action": "run"}
        page = await ada.post("/problems/add_one", data=form, headers=SITE | HTML)
        assert page.status_code == 403
        return page.text

    assert "Start the assignment" in await words("exam-not-started")
    assert (await start(ada, path)).status_code == 200
    assert not await refusals()
    async with either.services[Database].writing() as session:
        await session.execute(update(AssignmentRow).values(addresses=ELSEWHERE))
    assert "is open only from certain networks" in await words("address-refused")
    async with either.services[Database].writing() as session:
        await session.execute(update(AssignmentRow).values(addresses=None))
        await session.execute(update(ExamStartRow).values(started_at=now() - timedelta(minutes=31)))
    assert "What you submitted in time counts." in await words("exam-time-over")
    # Limits of an archived course no longer hold.
    assert (await tess.put(f"/api/v1/courses/{course['id']}/archive", headers=JSON)).status_code == 200
    [attempt] = await refusals()
    assert attempt["slug"] == "course-archived"
    assert (await tess.delete(f"/api/v1/courses/{course['id']}/archive", headers=JSON)).status_code == 200
    await end(either)
    assert not await refusals()


async def test_a_password_is_stored_as_a_hash_and_guesses_are_slowed_down(either, people, monkeypatch):
    # The first pause is a second, which passes between two guesses on a busy machine.
    moment = now()
    monkeypatch.setattr("app.core.limits.now", lambda: moment)
    ada, bob, tess = people
    course, path = await make(either, tess, password="blue whale")
    for http in (ada, bob):
        await join(http, course)
    async with either.services[Database].reading() as session:
        row = await session.get_one(AssignmentRow, path.rpartition("/")[2])
        assert row.password_hash.startswith("$argon2")
    wrong = await start(ada, path, "blue wale")
    assert (wrong.status_code, wrong.json()["slug"]) == (403, "exam-password-wrong")
    form = await send_form(ada, f"{path}/exam", f"{path}/start", password="no")
    assert (form.status_code, "This is not the password of Exam." in form.text) == (403, True)
    for _ in range(4):
        await start(ada, path, "guess")
    slowed = await start(ada, path, "blue whale")
    assert (slowed.status_code, slowed.json()["slug"]) == (429, "too-many-sign-ins")
    assert "Too many wrong passwords" in slowed.json()["detail"]
    assert (await start(bob, path, "blue whale")).status_code == 200
    listed = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).text
    assert "argon2" not in listed
    [exam] = (await tess.get(f"/api/v1/courses/{course['id']}/assignments")).json()["assignments"]
    assert exam["has_password"]
    # Left out, it stays; empty, it goes.
    body = {"name": "Exam", "exam": True, "opens": at(hours=-1), "due": at(hours=2), "problems": [{"problem": SLUG}]}
    for more, kept in (({}, True), ({"password": "red whale"}, True), ({"password": ""}, False)):
        changed = await tess.put(f"/api/v1{path}", json=body | more, headers=JSON)
        assert changed.json()["has_password"] is kept
    entries = await changes_in(either)
    assert [each.detail for each in entries if each.action == "assignment-changed"] == [
        "Exam of JAX: password changed",
        "Exam of JAX: password changed",
    ]


async def test_only_the_networks_of_the_exam_see_it(either, people):
    ada, _, tess = people
    course, path = await make(either, tess, addresses=[ELSEWHERE])
    await join(ada, course)
    refused = await start(ada, path)
    assert (refused.status_code, refused.json()["slug"]) == (403, "address-refused")
    assert "your address 127.0.0.1 is in none of them" in refused.json()["detail"]
    body = {"name": "Exam", "exam": True, "opens": at(hours=-1), "due": at(hours=2), "problems": [{"problem": SLUG}]}
    await tess.put(f"/api/v1{path}", json=body | {"addresses": [HERE]}, headers=JSON)
    assert (await start(ada, path)).status_code == 200
    assert together(await marks_seen(either, ada)) == TASK
    # Started in the room, and then at home.
    await tess.put(f"/api/v1{path}", json=body | {"addresses": [ELSEWHERE]}, headers=JSON)
    assert not together(await marks_seen(either, ada))
    assert (await submit(ada)).status_code == 404
    published = body | {"addresses": [ELSEWHERE], "problems": [{"problem": "add_one"}]}
    await tess.put(f"/api/v1{path}", json=published, headers=JSON)
    answer = await ada.post("/api/v1/problems/add_one/attempts", json={"source": "x = 1\n"}, headers=JSON)
    assert answer.json()["slug"] == "address-refused"


async def test_what_an_instructor_types_is_checked_and_shown_again(either, people):
    _, _, tess = people
    course, path = await make(either, tess)
    body = {"name": "Exam", "exam": True, "opens": at(hours=-1), "due": at(hours=2), "problems": [{"problem": SLUG}]}
    for wrong, words in (
        ({"addresses": ["10.0.0.1/8"]}, "addresses: '10.0.0.1/8' is not a network such as 192.0.2.0/24"),
        ({"password": "abc"}, "password: give 4 to 100 characters, or nothing."),
        ({"duration_minutes": 0}, "duration_minutes"),
    ):
        refused = (await tess.put(f"/api/v1{path}", json=body | wrong, headers=JSON)).json()
        assert refused["slug"] == "field-invalid"
        assert words in refused["detail"]
    fields = {"name": "Exam", "exam": "on", "opens": at(hours=-1), "due": at(hours=2), "problems": f"{SLUG} 100"}
    typed = {"duration_minutes": "45", "addresses": f"{HERE}\n2001:db8::/32", "password": "blue whale"}
    assert (await send_form(tess, f"{path}/edit", f"{path}/edit", **fields, **typed)).status_code == 303
    page = (await tess.get(f"{path}/edit", headers=HTML)).text
    assert f"{HERE}\n2001:db8::/32</textarea>" in page
    assert 'value="45"' in page
    assert "blue whale" not in page
    page = (await tess.get(f"/courses/{course['id']}", headers=HTML)).text
    assert "Each student has 45 minutes from their start." in page


@pytest.mark.parametrize(
    ("address", "networks", "expected"),
    [
        ("192.0.2.7", ["192.0.2.0/24"], True),
        ("::ffff:192.0.2.7", ["192.0.2.0/24"], True),
        ("192.0.3.7", ["192.0.2.0/24"], False),
        ("2001:db8::1", ["192.0.2.0/24", "2001:db8::/32"], True),
        ("", ["192.0.2.0/24"], False),
        ("", [], True),
    ],
)
def test_a_client_is_in_a_network(address, networks, expected):
    assert is_within(address, networks) is expected


def test_extra_time_is_added_to_both_ends():
    due = datetime.fromisoformat("2026-01-12T10:00:00+00:00")
    early, late = due - timedelta(hours=1), due - timedelta(minutes=10)
    assert ends_at(due, 30, 0, early) == early + timedelta(minutes=30)
    assert ends_at(due, 30, 15, early) == early + timedelta(minutes=45)
    assert ends_at(due, 30, 0, late) == end_of_minute(due)
    assert ends_at(due, 30, 15, late) == end_of_minute(due + timedelta(minutes=15))
    assert ends_at(due, None, 0, early) == end_of_minute(due)
