"""What one more worker adds: verdicts per second with 1, 2 and 4 workers on PostgreSQL, and the cost of a verdict.

Usage: python -m benchmarks.workers [--count N] [--rounds N] [--stand-in] [--json FILE]

Each worker has one slot and one core of this machine. Each round starts the workers, waits until they are idle, submits
COUNT submissions from as many users at once, and measures from the first start to the last verdict. A worker that is
bound to one core represents one more machine. More workers than cores share the cores, and do no more than these can.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import func, select, text

from app.core.database import Database
from app.grading.queue.models import AttemptRow
from app.grading.queue.status import ENDED
from benchmarks.errors import BenchmarkFailed
from benchmarks.fleet import GRADES, LISTENS, Daemon, Fleet, fleet
from benchmarks.machine import describe_machine
from benchmarks.processes import cpu_s, wait_until_quiet
from benchmarks.students import add_students
from benchmarks.workload import CALL_SLUG, copy_package
from grader.core.errors import MeshgradeError

NUMBERS = (1, 2, 4)
_LOOK_S = 0.25
_LIMIT_S = 600.0
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one round. CPU seconds and transactions are per submission."""

    per_s: float
    workers_cpu_s: float
    api_cpu_s: float
    postgresql_cpu_s: float
    transactions: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workers")
    parser.add_argument("--count", type=int, default=60, help="submissions in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--stand-in", action="store_true", help="a grader that only uses up CPU time")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if asked.count < 1 or asked.rounds < 1:
        parser.error("--count and --rounds must be at least 1")
    started = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - started:5.0f} s  {line}", file=sys.stderr, flush=True)

    module = "benchmarks.stand_in_judge" if asked.stand_in else "app.entry.cli"
    results = {"machine": describe_machine()} | measure(asked.count, asked.rounds, module, say)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2))
    for name, value in results.items():
        print(f"{name:28} {value}")


def measure(count: int, rounds: int, module: str, say: Say) -> dict[str, Any]:
    """Measure more workers. Raises `BenchmarkFailed` if something does not start, or a submission is not accepted."""
    with tempfile.TemporaryDirectory(prefix="meshgrade-workers-") as made:
        folder = Path(made)
        source = copy_package(CALL_SLUG, folder / "problems").reference
        with fleet(folder, workers=max(NUMBERS), module=module) as whole:
            return asyncio.run(_measure(count, rounds, whole, source, say)) | {
                "grader": "a stand-in" if module == "benchmarks.stand_in_judge" else "the judge"
            }


async def _measure(count: int, rounds: int, whole: Fleet, source: str, say: Say) -> dict[str, Any]:
    cores = sorted(os.sched_getaffinity(0))
    for number, worker in enumerate(whole.workers):
        worker.core = cores[number % len(cores)]
    whole.api.start()
    await whole.api.wait_for(LISTENS)
    database = Database(whole.url)
    try:
        tokens = await add_students(whole.url, count)
        by_number: dict[int, list[Measured]] = {number: [] for number in NUMBERS}
        for each in range(1, rounds + 1):
            for number in NUMBERS:
                workers = whole.workers[:number]
                by_number[number].append(await _round(whole, workers, database, tokens, source))
                say(f"round {each} of {rounds}, workers {number}: {by_number[number][-1].per_s:.2f} verdicts/s")
                if number == max(NUMBERS):
                    connections = await _connections(database)
                for worker in workers:
                    worker.stop()
        return _figures(by_number, count, rounds) | {
            "stored": await _stored_bytes(database),
            "connections": connections,
        }
    finally:
        await database.close()


async def _round(whole: Fleet, workers: list[Daemon], database: Database, tokens: list[str], source: str) -> Measured:
    for worker in workers:
        worker.start()
    for worker in workers:
        await worker.wait_for(GRADES)
        await worker.wait_for(f"{CALL_SLUG} is ready")
    # The first submissions show each worker what to warm.
    await _grade(whole.address, database, tokens[: 2 * len(workers)], source)
    used = await _used(whole, workers, database)
    ids = await _grade(whole.address, database, tokens, source)
    async with database.reading() as session:
        rows = (await session.scalars(select(AttemptRow).where(AttemptRow.id.in_(ids)))).all()
    if wrong := [row for row in rows if row.verdict_status != "accepted"]:
        raise BenchmarkFailed(f"{len(wrong)} submissions were not accepted, such as: {wrong[0].verdict}")
    first = min(row.started_at for row in rows if row.started_at)
    last = max(row.finished_at for row in rows if row.finished_at)
    spent = [
        (after - before) / len(ids) for before, after in zip(used, await _used(whole, workers, database), strict=True)
    ]
    return Measured(len(ids) / (last - first).total_seconds(), *spent)


async def _used(whole: Fleet, workers: list[Daemon], database: Database) -> list[float]:
    """Wait until all are idle. Returns the CPU seconds of workers, API and PostgreSQL so far, and the transactions."""
    for each in (*workers, whole.api):
        await asyncio.to_thread(wait_until_quiet, each.pid)
    async with database.reading() as session:
        done = await session.scalar(
            text("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()")
        )
    assert done is not None
    return [sum(cpu_s(worker.pid) for worker in workers), cpu_s(whole.api.pid), cpu_s(whole.postgresql_pid), done]


async def _grade(address: str, database: Database, tokens: list[str], source: str) -> list[str]:
    """Let each user submit once, all at the same time. Returns the ids of the attempts once all have ended."""

    async def hand_in(client: httpx.AsyncClient, token: str) -> str:
        answer = await client.post(
            f"/api/v1/problems/{CALL_SLUG}/attempts",
            headers={"Authorization": f"Bearer {token}"},
            json={"source": source},
        )
        if answer.status_code != 202:
            raise BenchmarkFailed(f"a submission was answered with {answer.status_code}: {answer.text[:500]}")
        made: str = answer.json()["id"]
        return made

    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        ids = list(await asyncio.gather(*(hand_in(client, token) for token in tokens)))
    unfinished = select(func.count()).where(AttemptRow.id.in_(ids), AttemptRow.status.not_in(ENDED))
    try:
        async with asyncio.timeout(_LIMIT_S):
            while True:
                async with database.reading() as session:
                    if not await session.scalar(unfinished):
                        return ids
                await asyncio.sleep(_LOOK_S)
    except TimeoutError:
        raise BenchmarkFailed(f"not all of {len(ids)} submissions were judged within {_LIMIT_S:.0f} s") from None


async def _connections(database: Database) -> dict[str, int]:
    """The number of connections of each process, by its name."""
    async with database.reading() as session:
        found = await session.execute(
            text(
                "SELECT application_name, count(*) FROM pg_stat_activity "
                "WHERE application_name = 'api' OR application_name LIKE 'worker-%' GROUP BY 1 ORDER BY 1"
            )
        )
        return {name: number for name, number in found}


async def _stored_bytes(database: Database) -> dict[str, float]:
    """The size of one attempt in bytes, including indexes and, because nothing is vacuumed, dead row versions."""
    async with database.reading() as session:
        rows = await session.scalar(select(func.count()).select_from(AttemptRow))
        size = await session.scalar(text("SELECT pg_total_relation_size('attempts')"))
        verdict = await session.scalar(text("SELECT avg(length(verdict::text)) FROM attempts"))
    assert rows
    assert size
    assert verdict
    return {"rows": rows, "bytes_each": round(size / rows), "verdict_characters": round(float(verdict))}


def _figures(by_number: dict[int, list[Measured]], count: int, rounds: int) -> dict[str, Any]:
    ratios = {
        number: statistics.median(some.per_s / one.per_s for some, one in zip(measured, by_number[1], strict=True))
        for number, measured in by_number.items()
    }
    return {f"service.workers_{number}_ratio": round(ratios[number], 2) for number in NUMBERS[1:]} | {
        "count": count,
        "rounds": rounds,
        "workers": {
            str(number): {
                name: round(statistics.median(getattr(each, name) for each in measured), 3)
                for name in Measured.__slots__
            }
            | {"ratio": round(ratios[number], 2)}
            for number, measured in by_number.items()
        },
    }


if __name__ == "__main__":
    try:
        main()
    except MeshgradeError as error:
        sys.exit(f"Error: {error}")
