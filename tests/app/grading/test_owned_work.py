"""Work that belongs to someone: who finds it, how much may be unfinished, how it is replaced, deleted and forgotten."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from app.accounts.caller import GUEST_ID, GUEST_NAME, Guest, User
from app.accounts.models import UserRow
from app.core.clock import now
from app.core.errors import AttemptNotFound, NotSignedIn, Refused, TooManyGuestRuns
from app.core.rest.paging import ALL, Cursor
from app.grading.attempts.service import Attempts
from app.grading.attempts.views import AttemptViews
from app.grading.owned_work import UsersJobs, UsersWork, WorkLimits, forgetting
from app.grading.queue.embedded_queue import EmbeddedQueue
from app.grading.queue.events import WorkEvents
from app.grading.queue.fair_share import line_up
from app.grading.queue.jobs import Jobs
from app.grading.queue.protocol import QueueLimits
from app.grading.queue.walls import Walls
from app.learning.explorer.service import Explorations
from app.learning.lessons.models import LessonRunRow
from app.learning.lessons.runs import LessonRuns
from app.problems.catalogue import Catalogue
from app.problems.exams import EveryExam
from app.problems.package_store import PackageStore
from app.problems.visibility import Visibility
from grader.core.errors import Cancelled
from tests.app.grading.queue.taking import doing, never_renew, renew_often, slots_for

pytestmark = pytest.mark.anyio
LIMITS = QueueLimits(slots=1, lease_s=30.0, retry_s=2.0, max_tries=3, max_deaths=2)
ADA, BOB = (User(name, name, "student") for name in ("ada", "bob"))
GUEST = User(GUEST_ID, GUEST_NAME, "student", Guest("chrome", "192.0.2.1"))
OTHER_BROWSER = replace(GUEST, guest=Guest("firefox", "192.0.2.1"))


class NoteNotFound(Refused):
    status = 404


class TooManyNotes(Refused):
    status = 429


class Notes(UsersJobs[LessonRunRow, str]):
    """A kind of work for these tests. What its owner sees of it is its source."""

    rows = LessonRunRow
    most_unfinished = 2
    too_many = TooManyNotes
    unknown_here = "not of this browser"

    def view(self, row: LessonRunRow) -> str:
        return row.source

    def not_found(self, work_id: str) -> NoteNotFound:
        return NoteNotFound(f"no note {work_id}")

    def too_many_because(self, user: User, unfinished: int) -> str:
        return f"{unfinished} notes"

    async def send(self, user: User, source: str = "x", *, instead_of: str = "") -> str:
        """The id of what was sent."""
        row = self._new(user, lesson="l", program=1, source=source)
        async with self._database.writing() as session:
            waited = await self._replace(session, user, row, LessonRunRow.id == instead_of)
            await self._admit(session, user, is_counted=not waited)
            await self._enqueue(session, row)
        return row.id

    async def sources(self, user: User, cursor: Cursor = ALL) -> list[str]:
        async with self._database.reading() as session:
            return list(await self._page(session, user, cursor, self.view))


@pytest.fixture
async def notes(each_database) -> Notes:
    async with each_database.writing() as session:
        names = (ADA.id, BOB.id)
        session.add_all(UserRow(id=each, name=each, role="student", created_at=now()) for each in names)
    return Notes(
        each_database, WorkLimits(1000, guest_runs_per_address=3, guest_runs_in_total=100), line_up, WorkEvents()
    )


async def change(notes: Notes, **columns: object) -> None:
    """Change every row."""
    async with notes._database.writing() as session:
        await session.execute(update(LessonRunRow).values(**columns))


@pytest.mark.parametrize("owner", [ADA, GUEST], ids=["user", "guest"])
async def test_only_its_owner_finds_lists_and_deletes_it(notes, owner):
    note = await notes.send(owner, "SECRET")
    assert await notes.get(owner, note) == "SECRET"
    for other in {ADA, BOB, GUEST, OTHER_BROWSER} - {owner}:
        error, message = (NoteNotFound, f"no note {note}") if other.guest is None else (NotSignedIn, "not of this bro")
        for act in (notes.get, notes.remove):
            with pytest.raises(error, match=message):
                await act(other, note)
        with pytest.raises(error, match=message):
            await notes.sources(other, Cursor(after=note))
        assert await notes.sources(other) == []
    with pytest.raises(NotSignedIn, match="not of this browser"):
        await notes.get(None, note)
    assert await notes.sources(owner) == ["SECRET"]
    assert await notes.remove(owner, note) == "SECRET"
    assert await notes.sources(owner) == []


@pytest.mark.parametrize("unfit", ["", "\0" * 32, "x" * 500, "é" * 32])
async def test_a_text_that_cannot_be_an_id_is_not_found(notes, unfit):
    with pytest.raises(NoteNotFound) as refused:
        await notes.get(ADA, unfit)
    assert str(refused.value) == f"no note {unfit[:64]}"


async def test_the_list_begins_with_the_newest_and_goes_on_after_the_cursor(notes):
    ids = []
    for number in range(3):
        ids.append(await notes.send(ADA, str(number)))
        await change(notes, status="finished")
    assert await notes.sources(ADA, Cursor(limit=2)) == ["2", "1"]
    assert await notes.sources(ADA, Cursor(limit=2, after=ids[1])) == ["0"]


@pytest.mark.parametrize("status", ["queued", "running"])
@pytest.mark.parametrize(("owner", "other"), [(ADA, BOB), (GUEST, OTHER_BROWSER)], ids=["users", "guests"])
async def test_what_an_owner_has_unfinished_is_limited_and_nobody_elses(notes, owner, other, status):
    await notes.send(owner)
    await notes.send(owner)
    await change(notes, status=status)
    with pytest.raises(TooManyNotes, match="2 notes") as refused:
        await notes.send(owner)
    assert refused.value.headers == {"Retry-After": "5"}
    assert len(await notes.sources(owner)) == 2
    await notes.send(other)
    await change(notes, status="finished")
    if owner.guest is None:
        await notes.send(owner)


async def test_guests_are_counted_and_what_is_refused_is_not(notes):
    for number in range(3):
        await notes.send(GUEST, str(number))
        await change(notes, status="finished")
    for browser in (GUEST, OTHER_BROWSER):
        with pytest.raises(TooManyGuestRuns, match="for your network"):
            await notes.send(browser)
    assert await notes.sources(GUEST) == ["2", "1", "0"]
    elsewhere = replace(GUEST, guest=Guest("chrome", "198.51.100.1"))
    await notes.send(elsewhere)
    await notes.send(ADA)


async def test_a_guest_pays_once_for_what_is_replaced_while_it_waits(notes):
    note = await notes.send(GUEST, "0")
    for number in range(1, 6):
        note = await notes.send(GUEST, str(number), instead_of=note)
    assert await notes.sources(GUEST) == ["5"]
    await change(notes, status="running")
    for number in (6, 7):
        note = await notes.send(GUEST, str(number), instead_of=note)
        await change(notes, status="running")
    with pytest.raises(TooManyGuestRuns):
        await notes.send(GUEST, instead_of=note)
    assert await notes.sources(GUEST) == ["7"]


async def test_nobody_replaces_what_is_somebody_elses(notes):
    note = await notes.send(ADA, "ada's")
    await notes.send(BOB, "bob's", instead_of=note)
    assert (await notes.sources(ADA), await notes.sources(BOB)) == (["ada's"], ["bob's"])


@pytest.mark.parametrize("by", ["deleting", "replacing"])
async def test_what_leaves_the_line_lets_the_next_one_move_up(notes, by):
    async def turn(note: str) -> int:
        async with notes._database.reading() as session:
            return (await session.scalars(select(LessonRunRow.priority).where(LessonRunRow.id == note))).one()

    await notes.send(BOB)
    first, second = await notes.send(ADA), await notes.send(ADA)
    in_front, behind = await turn(first), await turn(second)
    assert in_front < behind
    if by == "deleting":
        await notes.remove(ADA, first)
    else:
        await notes.send(ADA, instead_of=first)
    assert await turn(second) == in_front


@pytest.mark.parametrize("is_running", [False, True], ids=["waiting", "running"])
async def test_what_is_deleted_is_not_done(notes, is_running, monkeypatch):
    renew_often(monkeypatch)
    begun, stopped, done = asyncio.Event(), asyncio.Event(), []
    loop = asyncio.get_running_loop()

    async def do(job):
        def wait_until_stopped():
            loop.call_soon_threadsafe(begun.set)
            if job.row.source == "deleted":
                job.context.stop.wait(60)
                loop.call_soon_threadsafe(stopped.set)

        await job.call(wait_until_stopped, lambda error: None)
        done.append(job.row.source)
        await job.finish()

    note = await notes.send(ADA, "deleted")
    task = None
    if is_running:
        task = doing(notes._database, [Jobs(LessonRunRow, do)])
        await asyncio.wait_for(begun.wait(), 60)
    await notes.remove(ADA, note)
    await notes.send(ADA, "kept")
    task = task or doing(notes._database, [Jobs(LessonRunRow, do)])
    while "kept" not in done:
        await asyncio.sleep(0.01)
    task.cancel()
    assert stopped.is_set() == is_running
    assert await notes.sources(ADA) == ["kept"]


@pytest.mark.parametrize("by", ["deleting", "replacing"])
async def test_what_is_deleted_stops_before_its_lease_is_renewed(notes, by, monkeypatch):
    never_renew(monkeypatch)
    begun, stopped = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def do(job):
        def wait_until_stopped():
            loop.call_soon_threadsafe(begun.set)
            job.context.stop.wait()
            raise Cancelled("stopped")

        try:
            await job.call(wait_until_stopped, lambda error: None)
        finally:
            stopped.set()

    note = await notes.send(ADA)
    task = doing(notes._database, [Jobs(LessonRunRow, do)], events=notes.events)
    await asyncio.wait_for(begun.wait(), 60)
    if by == "deleting":
        await notes.remove(ADA, note)
    else:
        await notes.send(ADA, instead_of=note)
    await asyncio.wait_for(stopped.wait(), 60)
    task.cancel()


@pytest.fixture
def kinds(notes, package) -> dict[str, UsersWork]:
    database, limits, catalogue = notes._database, WorkLimits(1000), Catalogue([package])
    visibility = Visibility(catalogue, EveryExam(), PackageStore(database))
    walls = Walls.elsewhere()
    queue = EmbeddedQueue(database, slots_for(database), walls, WorkEvents(), LIMITS, sole=True)
    return {
        "attempts": Attempts(database, catalogue, AttemptViews(catalogue), queue, WorkEvents(), walls, limits),
        "explorations": Explorations(database, catalogue, limits, visibility, line_up, WorkEvents()),
        "lesson runs": LessonRuns(database, limits, line_up, WorkEvents()),
    }


COLUMNS = {
    "attempts": {"problem": "add_one", "version": "v", "kind": "run"},
    "explorations": {"digest": "d"},
    "lesson runs": {"lesson": "l", "program": 1},
}


async def store(kind: UsersWork, columns: dict[str, object], user: User, *, hours: int, status: str) -> str:
    row = kind._new(user, source="x", tries=0, status=status, **columns)
    row.created_at = now() - timedelta(hours=hours)
    async with kind._database.writing() as session:
        await session.merge(UserRow(id=user.id, name=user.name, role="student", created_at=now()))
        session.add(row)
    return row.id


@pytest.mark.parametrize(
    ("name", "users", "unfinished"),
    [("attempts", True, True), ("explorations", True, False), ("lesson runs", False, False)],
)
async def test_each_kind_is_stored_as_long_as_it_says(notes, kinds, name, users, unfinished):
    kind, columns = kinds[name], COLUMNS[name]
    kept = {
        await store(kind, columns, ADA, hours=25, status="finished"): users,
        await store(kind, columns, GUEST, hours=25, status="finished"): False,
        await store(kind, columns, GUEST, hours=25, status="running"): unfinished,
        await store(kind, columns, ADA, hours=23, status="finished"): True,
        await store(kind, columns, GUEST, hours=23, status="finished"): True,
    }
    await forgetting(notes._database).step()
    async with notes._database.reading() as session:
        assert set(await session.scalars(select(kind.rows.id))) == {each for each, stays in kept.items() if stays}


@pytest.mark.parametrize(
    ("name", "slug", "by_user", "by_guest"),
    [
        ("attempts", "attempt-not-found", "You have no attempt", "If it is one of your attempts, sign in"),
        ("explorations", "exploration-not-found", "none is shared with you", "unless its owner shares it"),
        ("lesson runs", "lesson-run-not-found", "no run of a lesson's program", "If it is one of yours, sign in"),
    ],
    ids=["attempts", "explorations", "lesson runs"],
)
async def test_each_kind_has_its_words_for_what_is_not_found(kinds, name, slug, by_user, by_guest):
    kind = kinds[name]
    of_ada, of_guest = [await store(kind, COLUMNS[name], each, hours=0, status="finished") for each in (ADA, GUEST)]
    for user, work_id in ((BOB, of_ada), (ADA, of_guest), (BOB, "\0")):
        with pytest.raises(Refused, match=by_user) as refused:
            await kind.get(user, work_id)
        assert (refused.value.status, refused.value.slug) == (404, slug)
    for user, work_id in ((OTHER_BROWSER, of_guest), (GUEST, of_ada), (None, of_ada)):
        with pytest.raises(NotSignedIn, match=by_guest):
            await kind.get(user, work_id)


async def test_a_rejudge_is_not_found(kinds):
    columns = COLUMNS["attempts"] | {"kind": "rejudge"}
    rejudge = await store(kinds["attempts"], columns, ADA, hours=0, status="finished")
    with pytest.raises(AttemptNotFound):
        await kinds["attempts"].get(ADA, rejudge)


@pytest.mark.parametrize(
    ("name", "most", "error", "because"),
    [
        ("attempts", 20, "too-many-waiting", "20 attempts waiting for a verdict"),
        ("explorations", 3, "too-many-explorations", "3 of your explorations have not finished"),
        ("lesson runs", 1, "too-many-lesson-runs", "One program runs at a time"),
    ],
    ids=["attempts", "explorations", "lesson runs"],
)
async def test_each_kind_has_its_limit(kinds, name, most, error, because):
    kind = kinds[name]

    async def admit(user: User) -> None:
        async with kind._database.writing() as session:
            await kind._admit(session, user)

    for _ in range(most):
        await admit(ADA)
        await store(kind, COLUMNS[name], ADA, hours=0, status="running")
    with pytest.raises(Refused, match=because) as refused:
        await admit(ADA)
    assert (refused.value.slug, refused.value.headers) == (error, {"Retry-After": "5"})
    await admit(BOB)
