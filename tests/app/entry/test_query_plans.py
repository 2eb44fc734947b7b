"""No route that answers to GET reads a whole table: SQLite explains every query that it sends.

The service has what visits in the browser show (tests/browser/sample_work.py), and pages have their addresses in
tests/browser/visited_pages.py. SQLite plans without statistics, so a few rows show the plan for any number of them.
tests/app/grading/attempts/test_plans.py asks PostgreSQL, too, about queries of attempts.
"""

import re
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from sqlalchemy import Engine, event
from starlette.types import Receive, Scope, Send

from app.core.database import Base
from app.core.settings import CHECKOUT, Settings
from app.entry.assembly import Grading
from app.entry.main import create_app
from app.grading.queue.null_grader import NullGrader
from app.grading.queue.walls import Walls
from tests.app.conftest import WallState
from tests.app.routes import routes_of
from tests.browser.browser import OWNER_TOKEN, Service, copy_problems
from tests.browser.sample_work import PROBLEM, TRACK, Work, add_work
from tests.browser.stored_attempts import database, owner_of
from tests.browser.visited_pages import PAGES, routes_visited

# Tables with a row for each decision of an instructor, an owner or an operator. Reading one whole takes milliseconds.
SMALL = {
    *("assignments", "badge_keys", "course_categories", "courses", "lti_keys", "lti_platforms", "packages", "proofs"),
    *("published", "repositories", "workers"),
    # Written by hand, and read by somebody each; expired ones are deleted.
    *("fault_reports", "invitations"),
}
# Whole tables that a route may read, with the reason: attempts and users only along an index that has all it needs.
ALLOWED = {
    ("/insight", "attempts"): "it counts all",
    ("/api/v1/insight", "attempts"): "it counts all",
    ("/problems", "attempts"): "it says how many solved each problem, which is read at most once in ten minutes",
    ("/people", "users"): "it says how many accounts there are",
    ("/search", "roster_lines"): "a part of a name can be anywhere in it",
    ("/search/found", "roster_lines"): "as /search",
    ("/api/v1/people", "roster_lines"): "as /search",
    ("/badges/revoked.json", "issued_badges"): "a badge is revoked once what it stands for is gone, however that went",
}
# By name, what stands for it in the paths of routes that are not pages. The rest is in sample_work.py.
NAMES = {
    **{"slug": PROBLEM, "track": TRACK, "provider": "none", "name": "x", "key_id": "0", "context_id": "8b" * 16},
    **{"sync_id": "7b" * 16, "webhook_id": "9a" * 16, "lesson_run_id": "9b" * 16},
}
QUERIES = {
    "/api/v1/batch/attempts": "id={wrong}",
    "/api/v1/courses/{course_id}/copy": "opens=2027-02-01",
    "/api/v1/people": "q=a",
    "/search/found": "q=all",
}
# What a route answers to the owner, if it is not 200.
ANSWERS = {
    "/api/v1/interviews/{interview_id}": 404,  # the student's
    "/api/v1/problems/{slug}/editorial": 403,
    "/api/v1/problems/{slug}/question": 404,
    "/authoring/{slug}/versions/{version}/figures/{name}": 404,
    "/badges/keys/{key_id}": 404,
    "/lti/login": 403,
    "/metrics": 403,
    "/problems/{slug}/figures/{name}": 404,
    "/problems/{slug}/picture": 409,  # nothing is compiled
    "/sign-in/again": 403,  # it needs a session, and the owner has a token
    "/sign-in/with/{provider}/return": 404,
}
# A statement and its parameters.
Query = tuple[str, Any]
# The queries of the request that is being answered; None in the loops of the background.
_asked: ContextVar[list[Query] | None] = ContextVar("asked", default=None)


@contextmanager
def served(app: FastAPI, at: socket.socket) -> Iterator[list[tuple[str, list[Query]]]]:
    """Serve it in a thread. Yields what requests have asked, each with its route, in a list that grows."""
    requests: list[tuple[str, list[Query]]] = []

    async def noting(scope: Scope, receive: Receive, send: Send) -> None:
        asked: list[Query] | None = [] if scope["type"] == "http" else None
        _asked.set(asked)
        await app(scope, receive, send)
        if asked is not None and "route" in scope:
            prefix = "/api/v1" if scope["path"].startswith("/api/v1/") else ""
            requests.append((prefix + scope["route"].path, asked))

    def note(connection: object, cursor: object, statement: str, parameters: Any, *rest: object) -> None:
        asked = _asked.get()
        if asked is not None:
            asked.append((statement, parameters))

    server = uvicorn.Server(uvicorn.Config(noting, log_level="error"))
    thread = threading.Thread(target=server.run, args=([at],))
    event.listen(Engine, "before_cursor_execute", note)
    thread.start()
    try:
        while not server.started or not app.state.services[Walls].probed:
            assert thread.is_alive()
            time.sleep(0.01)
        yield requests
    finally:
        server.should_exit = True
        thread.join()
        event.remove(Engine, "before_cursor_execute", note)


@dataclass(frozen=True, slots=True)
class Walk:
    """What each request asked, by its route; the answers that were not expected; and the file of the database."""

    requests: list[tuple[str, list[Query]]]
    wrong_answers: list[str]
    file: Path


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    folder = tmp_path_factory.mktemp("plans")
    copy_problems(folder / "problems")
    at = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{at.getsockname()[1]}"
    settings = Settings(
        data=folder / "data",
        problems=folder / "problems",
        public_url=url,
        owner_token=OWNER_TOKEN,
        requests_per_minute=1_000_000,
    )
    app = create_app(settings, grading=lambda *_: Grading(NullGrader(), lambda: [WallState()]))
    wrong, right = (
        (CHECKOUT / "problems" / PROBLEM / file).read_text(encoding="utf-8")
        for file in ("submissions/rejected/wrong_value/loss_after_the_update.py", "reference.py")
    )
    with served(app, at) as requests:
        service = Service(url, "", folder / "data")
        work = add_work(service, wrong, right)
        _store_more(service)
        requests.clear()
        paths = {path for method, path in routes_of(app) if method == "GET"}
        yield Walk(requests, list(_wrong_answers(service, work, paths)), folder / "data" / "meshgrade.sqlite3")


def _store_more(service: Service) -> None:
    """What only REST shows: a webhook of the owner, and a run of a lesson's program."""
    with database(service) as connection:
        owner, moment = owner_of(connection), "2026-01-05 09:30:00.000000"
        webhook = (NAMES["webhook_id"], owner, "https://hooks.example/1", moment)
        connection.execute("INSERT INTO webhooks (id, user_id, url, created_at) VALUES (?, ?, ?, ?)", webhook)
        run = (NAMES["lesson_run_id"], owner, "meshes-and-specs", 1, "x = 1", "finished", 0, moment, 1, moment, moment)
        connection.execute(
            "INSERT INTO lesson_runs (id, user_id, lesson, program, source, status, priority, turn_at, tries,"
            " created_at, finished_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            run,
        )


def _wrong_answers(service: Service, work: Work, routes: set[str]) -> Iterator[str]:
    """Open each page as its reader, each other route as the owner, and all of them as the student."""
    token = {"Authorization": f"Bearer {OWNER_TOKEN}"}
    cookies = {each["name"]: each["value"] for each in work.student["cookies"]}
    with (
        httpx.Client(base_url=service.url, timeout=60) as guest,
        httpx.Client(base_url=service.url, timeout=60, cookies=cookies) as student,
        httpx.Client(base_url=service.url, timeout=60, headers=token) as owner,
    ):
        readers = {"guest": guest, "student": student, "owner": owner}
        opened = [(each.reader, each.address.format_map(work.addresses), each.status) for each in PAGES]
        others = {}
        for route in routes - routes_visited(routes):
            try:
                others[_address(route, work.addresses)] = ANSWERS.get(route, 200)
            except KeyError as name:
                yield f"{route}: nothing stands for {name}"
        opened += [("owner", address, status) for address, status in sorted(others.items())]
        for reader, address, status in opened:
            accept = "*/*" if "/api/" in address else "text/html"
            answer = readers[reader].get(address, headers={"Accept": accept})
            if answer.status_code != ANSWERS.get(address, status):
                yield f"{address}: {answer.status_code}"
            if answer.is_success and address in others and "<html" in answer.text:
                yield f"{address} is a page: visited_pages.py needs its address"
            student.get(address, headers={"Accept": accept})


def _address(route: str, made: dict[str, str]) -> str:
    names = NAMES | made
    of_student = "/people/" in route
    names |= {
        "attempt_id": made["rejected" if of_student else "wrong"],
        "exploration_id": made["explored"],
        "check_id": made["validation_id"],
    }
    for link in ("shared", "completed"):
        if route.startswith(f"/{link}/"):
            return route.replace(f"/{link}/{{token}}", made[link])
    if "/lessons/" in route:
        names["slug"] = "meshes-and-specs"
    query = QUERIES.get(route, "").format_map(names)
    return f"{route.format_map(names)}{'?' if query else ''}{query}"


def _tables_read_whole(connection: sqlite3.Connection, query: Query) -> dict[str, str]:
    """Each table with the step of the plan."""
    statement, parameters = query
    # A condition that is false leaves nothing to read, whatever the plan says.
    if not statement.startswith(("SELECT", "WITH")) or "WHERE 0 = 1" in statement:
        return {}
    # Along an index and up to a limit, without a condition that could pass over rows.
    is_one_page = " LIMIT " in statement and " WHERE " not in statement
    aliases = dict(re.findall(r'(?:FROM|JOIN) "?(\w+)"? AS "?(\w+)"?', statement))
    tables = {alias: table for table, alias in aliases.items()}
    found = {}
    for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters):
        if (scan := re.match(r"SCAN (\w+)(.*)", step)) and not (is_one_page and "USING INDEX" in scan[2]):
            found[tables.get(scan[1], scan[1])] = step
    return {table: step for table, step in found.items() if table in Base.metadata.tables}


def test_every_route_answers(walk: Walk) -> None:
    """One that is new, and that no row of the service is for, is named here with what it answers."""
    assert walk.wrong_answers == []


def test_no_route_reads_a_whole_table(walk: Walk) -> None:
    found: dict[tuple[str, str], str] = {}
    steps: dict[str, dict[str, str]] = {}
    with closing(sqlite3.connect(walk.file)) as connection:
        for route, queries in walk.requests:
            for query in queries:
                statement = query[0]
                if statement not in steps:
                    steps[statement] = _tables_read_whole(connection, query)
                for table, step in steps[statement].items():
                    if table not in SMALL:
                        found[route, table] = f"{step}: {statement}"
    assert {read: how for read, how in found.items() if read not in ALLOWED} == {}
    assert ALLOWED.keys() - found.keys() == set()
    assert [how for (_, table), how in found.items() if table in ("attempts", "users") and "COVERING" not in how] == []
    assert Base.metadata.tables.keys() >= SMALL


def test_a_query_of_all_attempts_would_be_noticed(walk: Walk) -> None:
    with closing(sqlite3.connect(walk.file)) as connection:
        for statement, tables in (
            ("SELECT attempts.problem, count(*) FROM attempts GROUP BY attempts.problem", {"attempts"}),
            ("SELECT a.id FROM attempts AS \"a\" WHERE a.kind = 'run' ORDER BY a.finished_at LIMIT 5", {"attempts"}),
            ("SELECT attempts.id FROM attempts ORDER BY attempts.finished_at DESC LIMIT 5", set()),
            (
                "SELECT users.name FROM attempts JOIN users ON users.id = attempts.user_id WHERE attempts.id = '1'",
                set(),
            ),
        ):
            assert _tables_read_whole(connection, (statement, ())).keys() == tables, statement
