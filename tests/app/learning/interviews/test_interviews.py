"""Interviews: what is drawn, whose time runs, what stays closed, and what came of it."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from sqlalchemy import update

from app.accounts.caller import User
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.database import Database
from app.learning.interviews.interview import LONGEST, TIME, Interview, Place, draw_problems
from app.learning.interviews.models import InterviewRow
from app.learning.interviews.summary import outcomes_of, words_of
from app.problems.tracks import Section
from tests.app.accounts.people import browser, send_form, sign_in, sign_up
from tests.app.grading.attempts.handing_in import accepted, hand_in
from tests.app.program_verdict import program_verdict

pytestmark = pytest.mark.anyio
ALL = "/api/v1/interviews"
ADA = User("ada", "ada", "student")
BEGAN = datetime(2026, 1, 5, 9, tzinfo=UTC)


async def begin(service, level: str = "easy"):
    return await service.http.post(ALL, json={"level": level}, headers=service.bearer)


def sections(package, levels: dict[str, str]) -> list[Section]:
    """A track for each prefix of the slugs, with problems of these levels."""
    tracks: dict[str, list] = {}
    for slug, level in levels.items():
        manifest = package.manifest.model_copy(update={"slug": slug, "difficulty": level})
        tracks.setdefault(slug[0], []).append(replace(package, manifest=manifest))
    return [Section(track, track, "", tuple(packages)) for track, packages in tracks.items()]


def test_three_problems_of_the_level_are_drawn_from_different_tracks(package):
    offered = sections(package, {"a1": "easy", "a2": "easy", "a3": "easy", "b1": "easy", "c1": "easy", "b2": "hard"})
    seen = Counter()
    for seed in range(50):
        drawn = [each.slug for each in draw_problems(offered, "easy", (), Random(seed))]
        assert sorted(slug[0] for slug in drawn) == ["a", "b", "c"]
        seen.update(drawn)
    assert set(seen) == {"a1", "a2", "a3", "b1", "c1"}
    assert draw_problems(offered, "medium", (), Random(0)) == ()
    assert [each.slug for each in draw_problems(offered, "hard", (), Random(0))] == ["b2"]


def test_solved_problems_are_drawn_only_if_there_are_no_others(package):
    offered = sections(package, {"a1": "easy", "a2": "easy", "b1": "easy", "c1": "easy"})
    for seed in range(20):
        drawn = [each.slug for each in draw_problems(offered, "easy", {"b1", "c1"}, Random(seed))]
        assert set(drawn[:2]) == {"a1", "a2"}
        assert drawn[2] in {"b1", "c1"}


def test_a_mixed_interview_has_one_problem_of_each_level_the_easy_one_first(package):
    offered = sections(package, {"a1": "hard", "a2": "easy", "b1": "medium", "c1": "medium"})
    drawn = [each.manifest.difficulty for each in draw_problems(offered, "mixed", (), Random(1))]
    assert drawn == ["easy", "medium", "hard"]


def interview(*places: Place) -> Interview:
    return Interview("i", "easy", places, BEGAN, BEGAN + LONGEST, None)


def test_the_time_of_a_problem_begins_when_its_reader_goes_on():
    started = interview(Place(slug="a", started_at=BEGAN), Place(slug="b"))
    late = BEGAN + timedelta(minutes=40)
    assert [each.state(late) for each in started.places] == ["over", "waiting"]
    places = started.next(late)
    assert places is not None
    assert [each.state(late) for each in places] == ["over", "running"]
    assert [each.closed_at for each in places] == [BEGAN + TIME, late + TIME]
    after = replace(started, places=places)
    assert (after.at, after.current.slug, after.next(late)) == (2, "b", None)


def test_a_problem_that_is_done_early_takes_no_more_attempts():
    early = BEGAN + timedelta(minutes=5)
    places = interview(Place(slug="a", started_at=BEGAN), Place(slug="b")).next(early)
    assert places is not None
    assert places[0].closed_at == early


async def test_what_was_sent_within_the_time_counts(each_database):
    database = each_database
    async with database.writing() as session:
        session.add(UserRow(id="ada", name="ada", role="student", created_at=now()))
    wrong = program_verdict("other", wrong=True)
    at = {name: await hand_in(database, ADA, verdict) for name, verdict in (("in", accepted(None)), ("late", wrong))}
    begun = at["in"] - timedelta(minutes=7)
    places = (
        Place(slug="add_one", started_at=begun),
        Place(slug="other", started_at=at["late"] - timedelta(minutes=26)),
        Place(slug="third"),
    )
    found = Interview("i", "easy", places, begun, begun + LONGEST, None)
    outcomes = await outcomes_of(database, ADA, found)
    assert [(each.is_solved, each.attempts) for each in outcomes] == [(True, 1), (False, 0), (False, 0)]
    assert outcomes[0].took == timedelta(minutes=7)
    assert words_of(outcomes) == "1 of 3 problems solved, in 7 minutes."
    in_time = replace(found, places=(places[0], Place(slug="other", started_at=at["late"] - TIME), places[2]))
    missed = (await outcomes_of(database, ADA, in_time))[1]
    assert (missed.attempts, missed.best, missed.is_solved) == (1, wrong.score, False)
    assert missed.failed == tuple(each.title for each in wrong.checks if not each.passed)


async def test_an_interview_closes_hints_until_it_is_over(either):
    hints = "/api/v1/problems/add_one/hints"
    assert (await either.http.get(hints, headers=either.bearer)).status_code == 200
    began = await begin(either)
    assert began.status_code == 201
    body = began.json()
    assert [(each["problem"], each["state"]) for each in body["problems"]] == [("add_one", "running")]
    refused = await either.http.get(hints, headers=either.bearer)
    assert (refused.status_code, refused.json()["slug"]) == (403, "exam-open")
    assert "is part of your interview. Until the interview is over," in refused.json()["detail"]
    other = await begin(either)
    assert (other.status_code, other.json()["interview"]) == (409, body["id"])
    assert (await either.http.get(hints)).status_code == 200  # somebody else's are open
    done = (await either.http.post(f"{ALL}/{body['id']}/next", headers=either.bearer)).json()
    assert (done["over"], done["words"]) == (True, "0 of 1 problem solved.")
    assert (await either.http.get(hints, headers=either.bearer)).status_code == 200
    for action in ("next", "end"):
        again = await either.http.post(f"{ALL}/{body['id']}/{action}", headers=either.bearer)
        assert (again.status_code, again.json()["slug"]) == (409, "interview-over")


async def test_one_that_nobody_ends_is_over_after_two_hours(service):
    first = (await begin(service)).json()
    async with service.services[Database].writing() as session:
        await session.execute(update(InterviewRow).values(expires_at=now() - timedelta(seconds=1)))
    hints = await service.http.get("/api/v1/problems/add_one/hints", headers=service.bearer)
    assert hints.status_code == 200
    assert (await service.http.get(f"{ALL}/{first['id']}", headers=service.bearer)).json()["over"]
    assert (await begin(service)).status_code == 201


async def test_a_level_without_problems_is_refused(service):
    refused = await begin(service, "hard")
    assert (refused.status_code, refused.json()["slug"]) == (409, "level-empty")
    assert (await begin(service, "expert")).status_code == 422


async def test_the_pages_lead_through_an_interview(service, package):
    await sign_in(service)
    page = await send_form(service.http, "/interviews", "/interviews", level="easy")
    address = page.headers["location"] if page.status_code == 303 else str(page.url.path)
    under_way = (await service.http.get(address)).text
    assert "Problem 1 of 1. Time left:" in under_way
    problem = (await service.http.get("/problems/add_one")).text
    assert "Interview, problem 1 of 1." in problem
    assert "This problem is part of your interview. Until the interview is over," in problem
    sent = await service.http.post(
        "/api/v1/problems/add_one/attempts?wait=60",
        json={"source": package.reference},
        headers={"Origin": "http://meshgrade.test"},
    )
    assert sent.json()["verdict"]["status"] == "accepted"
    await send_form(service.http, address, f"{address}/next")
    summary = (await service.http.get(address)).text
    assert "1 of 1 problem solved, in 1 minute." in summary
    assert "Solved in 1 min" in summary
    assert "1 of 1 problem solved" in (await service.http.get("/interviews")).text
    assert "Interview, problem" not in (await service.http.get("/problems/add_one")).text


async def test_the_form_keeps_its_level_when_it_is_refused(service):
    await sign_in(service)
    page = await send_form(service.http, "/interviews", "/interviews", level="hard")
    assert page.status_code == 409
    assert 'value="hard" checked' in page.text


async def test_nobody_else_finds_an_interview(service):
    mine = (await begin(service)).json()["id"]
    async with browser(service) as http:
        await sign_up(service, http, "ada")
        assert (await http.get(f"{ALL}/{mine}")).status_code == 404
        assert (await http.get(f"{ALL}/none")).status_code == 404
        assert (await http.get(ALL)).json() == {"interviews": []}


async def test_each_problem_has_all_of_its_time_however_late_it_begins(service):
    moment = now()
    places = [Place(slug="add_one", started_at=moment - timedelta(minutes=110)), Place(slug="other")]
    row = InterviewRow(
        id="f" * 32,
        user_id=(await service.http.get("/api/v1/me", headers=service.bearer)).json()["id"],
        level="easy",
        problems=[each.model_dump(mode="json") for each in places],
        created_at=moment - timedelta(minutes=110),
        expires_at=moment + timedelta(minutes=10),
    )
    async with service.services[Database].writing() as session:
        session.add(row)
    found = (await service.http.post(f"{ALL}/{'f' * 32}/next", headers=service.bearer)).json()
    assert datetime.fromisoformat(found["expires_at"]) >= datetime.fromisoformat(found["problems"][1]["due_at"])
