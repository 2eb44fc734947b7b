"""A rejudge of chosen attempts: by version, course, assignment, account and time; and one that lowers no score."""

from datetime import timedelta

import pytest

from app.accounts.audit.log import AuditLog
from app.core.clock import now
from app.core.database import Database
from app.core.rest.paging import Cursor
from app.grading.queue.models import AttemptRow
from tests.app.accounts.people import browser, send_form, sign_up
from tests.app.conftest import FILES
from tests.app.loops import quicken
from tests.app.teaching.rejudging.test_pages import shown
from tests.app.teaching.rejudging.test_rejudge import (
    NEW,
    NEW_SOURCE,
    OLD_SOURCE,
    ONE,
    call,
    published,
    reached,
    scores,
    student,
    submit,
)

pytestmark = pytest.mark.anyio
PAGE = "/authoring/add_one"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    quicken(monkeypatch)


async def own_id(service, bearer):
    return (await service.http.get("/api/v1/me", headers=bearer)).json()["id"]


async def course_of(service, *students, opens="2026-01-01T00:00", due="2099-01-01T00:00"):
    """A course with these students, and an assignment with the problem."""
    body = {"name": "Autumn", "time_zone": "UTC"}
    course = (await service.http.post("/api/v1/courses", headers=service.bearer, json=body)).json()
    for each in students:
        joined = await service.http.post("/api/v1/courses/join", headers=each, json={"code": course["join_code"]})
        assert joined.status_code == 200, joined.text
    work = {"name": "Week 1", "opens": opens, "due": due, "problems": [{"problem": "add_one"}]}
    address = f"/api/v1/courses/{course['id']}/assignments"
    made = await service.http.post(address, headers=service.bearer, json=work)
    assert made.status_code == 201, made.text
    return course["id"], made.json()["id"]


async def count(service, version, **chosen):
    answer = await call(service, "POST", "/rejudge/count", version=version, **chosen)
    assert answer.status_code == 200, answer.text
    return answer.json()["attempts"]


async def sent_at(service, attempt, moment):
    async with service.services[Database].writing() as session:
        (await session.get_one(AttemptRow, attempt)).created_at = moment


def text(moment):
    return moment.isoformat().replace("+00:00", "Z")


async def test_each_choice_counts_and_grades_only_its_attempts(either, package):
    ada, bob = await student(either, "ada"), await student(either, "bob")
    first, other = await submit(either, OLD_SOURCE, ada), await submit(either, OLD_SOURCE, bob)
    middle = await published(either, FILES | {"statement.md": "Add one to it.\n"})
    second = await submit(either, OLD_SOURCE, ada)
    version = await published(either)
    course, assignment = await course_of(either, ada)
    moment = now()
    await sent_at(either, first, moment - timedelta(days=3))
    await sent_at(either, other, moment - timedelta(days=2))
    await sent_at(either, second, moment - timedelta(days=1))

    answer = (await call(either, "POST", "/rejudge/count", version=version)).json()
    old = sorted([{"version": package.version, "attempts": 2}, {"version": middle, "attempts": 1}], key=str)
    assert (answer["attempts"], answer["people"], sorted(answer["versions"], key=str)) == (3, 2, old)
    assert await count(either, version, versions=[package.version]) == 2
    assert await count(either, version, course=course) == 2
    assert await count(either, version, assignment=assignment) == 2
    assert await count(either, version, people=[await own_id(either, bob)]) == 1
    assert await count(either, version, since=text(moment - timedelta(days=2))) == 2
    assert await count(either, version, until=text(moment - timedelta(days=2))) == 1
    assert await count(either, version, course=course, versions=[middle]) == 1

    chosen = {"course": course, "versions": [package.version], "until": text(moment)}
    begun = await call(either, "POST", "/rejudge", version=version, **chosen)
    assert begun.status_code == 202
    finished = await reached(either, begun.headers["location"], "finished")
    assert (finished["total"], finished["changed"]) == (1, 1)
    assert finished["selection"]["course"] == course
    assert finished["selection"]["versions"] == [package.version]
    changes = (await call(either, "GET", f"/rejudges/{finished['id']}/changes")).json()["changes"]
    assert [each["attempt"] for each in changes] == [first]
    # The same choice is the same rejudge. Another one has to wait.
    assert (await call(either, "POST", "/rejudge", version=version, **chosen)).json()["id"] == finished["id"]
    refused = await call(either, "POST", "/rejudge", version=version)
    assert (refused.status_code, refused.json()["slug"]) == (409, "rejudge-under-way")


async def test_an_assignment_has_what_was_submitted_while_it_counted(service):
    ada = await student(service, "ada")
    early, late = await submit(service, OLD_SOURCE, ada), await submit(service, OLD_SOURCE, ada)
    version = await published(service)
    _, assignment = await course_of(service, ada, opens="2026-03-01T00:00", due="2026-03-08T00:00")
    opened = now().replace(year=2026, month=3, day=4)
    await sent_at(service, early, opened)
    await sent_at(service, late, opened + timedelta(days=10))
    assert await count(service, version, assignment=assignment) == 1


async def test_a_choice_that_cannot_match_is_refused_and_says_why(service):
    ada = await student(service, "ada")
    version = await published(service)
    _, assignment = await course_of(service, ada)
    nothing = "0" * 32
    for chosen, slug, words in (
        ({"versions": ["0" * 64]}, "version-not-found", "has no version"),
        ({"course": nothing}, "course-not-found", "not in a course with the id"),
        ({"assignment": nothing}, "assignment-not-found", "No course has an assignment with the id"),
        ({"assignment": assignment, "course": nothing}, "course-not-found", "not in a course with the id"),
        ({"people": [nothing]}, "person-not-found", "No account has the id"),
        ({"since": "2026-02-02T00:00:00Z", "until": "2026-02-01T00:00:00Z"}, "rejudge-selection-invalid", "before"),
        ({"since": "2026-02-30T00:00:00Z"}, "rejudge-selection-invalid", "the calendar has no 2026-02-30"),
        ({"people": ["ada"]}, "field-invalid", "people.0"),
    ):
        for path in ("/rejudge/count", "/rejudge"):
            answer = await call(service, "POST", path, version=version, **chosen)
            assert answer.json()["slug"] == slug, answer.text
            assert words in answer.json()["detail"]
    rejudges = (await call(service, "GET", "/rejudges")).json()["rejudges"]
    assert rejudges == []
    assert (await call(service, "POST", "/rejudge/count", ada, version=version)).status_code == 403


async def test_scores_are_never_lowered_if_that_is_chosen(either):
    ada, bob = await student(either, "ada"), await student(either, "bob")
    was_right, is_right = await submit(either, OLD_SOURCE, ada), await submit(either, NEW_SOURCE, bob)
    version = await published(either)
    begun = await call(either, "POST", "/rejudge", version=version)
    told = await reached(either, begun.headers["location"], "finished")
    losses = (await call(either, "GET", f"/rejudges/{told['id']}/changes?losses=true")).json()["changes"]
    assert [each["attempt"] for each in losses] == [was_right]
    await call(either, "POST", f"/rejudges/{told['id']}/apply?never_lower=true")
    applied = await reached(either, f"{ONE}/rejudges/{told['id']}", "applied")
    assert (applied["never_lower"], applied["not_lowered"], applied["changed"]) == (True, 1, 1)
    assert await scores(either, ada, was_right) + await scores(either, bob, is_right) == [100, 100]
    kept = (await either.http.get(f"/api/v1/attempts/{was_right}", headers=ada)).json()
    assert (kept["rejudged"], kept["verdict"]["status"]) == (None, "accepted")
    changes = (await call(either, "GET", f"/rejudges/{told['id']}/changes")).json()["changes"]
    assert [each["attempt"] for each in changes] == [is_right]
    [entry] = await either.services[AuditLog].list(Cursor(10))
    assert entry.detail == f"add_one, by version {version[:12]}, no score lowered"


async def test_the_form_counts_then_grades_and_the_page_lists_who_loses(service):
    ada, bob = await student(service, "ada"), await student(service, "bob")
    course, _ = await course_of(service, ada)
    mine, theirs = await submit(service, OLD_SOURCE, ada), await submit(service, OLD_SOURCE, bob)
    version = await published(service, NEW)
    async with browser(service) as grace:
        await sign_up(service, grace, "grace", "instructor")
        staff = f"/api/v1/courses/{course}/instructors"
        assert (await service.http.post(staff, headers=service.bearer, json={"person": "grace"})).is_success
        link = f"{PAGE}/rejudge?version={version}"
        assert link in (await grace.get(f"{PAGE}/versions/{version}")).text
        page = (await grace.get(link)).text
        assert "2 attempts of 2 people" in page
        assert "Autumn: Week 1" in page
        page = (await grace.get(f"{link}&people=ada&since=2026-01-01T00:00")).text
        assert "1 attempt of 1 person" in page
        unknown = await grace.get(f"{link}&people=nobody")
        assert unknown.status_code == 404
        assert "No account has the name &#39;nobody&#39;" in unknown.text
        fields = {"version": version, "people": "ada", "of": "", "scope": "", "since": "", "until": ""}
        wrong = await send_form(grace, link, f"{PAGE}/rejudge", **fields | {"since": "yesterday"})
        assert wrong.status_code == 422
        assert "give a local date and time" in wrong.text
        asked = await send_form(grace, link, f"{PAGE}/rejudge", **fields)
        address = asked.headers["location"]
        page = await shown(grace, address, "The attempt is graded.")
        assert "<dd>ada</dd>" in page
        assert "Never lower a score" in page
        assert "<td>ada</td>" in (await grace.get(f"{address}?losses=true")).text
        await send_form(grace, address, f"{address}/apply", never_lower="on")
        page = await shown(grace, address, "The new verdicts are in effect")
        assert "would have lost points and keeps its verdict" in page
        assert await scores(service, ada, mine) + await scores(service, bob, theirs) == [100, 100]
