"""What an idle service costs its database: transactions per second of one API process and one worker on PostgreSQL.

Usage: python -m benchmarks.idle [--seconds N] [--submissions N] [--json FILE]

The grader is a stand-in that executes nothing. Once nothing has happened for a while, transactions are counted. Then
single submissions, a few seconds apart, show whether an idle service still takes work at once. Finally the worker
stops, and the API's own transactions are counted.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select, text

from app.core.database import Database
from app.grading.queue.models import AttemptRow
from benchmarks.errors import BenchmarkFailed
from benchmarks.fleet import GRADES, LISTENS, Fleet, fleet
from benchmarks.machine import describe_machine
from benchmarks.students import add_students
from benchmarks.workload import CALL_SLUG, copy_package
from grader.core.errors import MeshgradeError

# Longer than any loop pauses when it finds nothing to do.
_SETTLE_S = 60.0
# The pause between two submissions, after which the service is idle again.
_REST_S = 5.0
_COUNT = text("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.idle")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long transactions are counted")
    parser.add_argument("--settle", type=float, default=_SETTLE_S, help="seconds without work before that")
    parser.add_argument("--submissions", type=int, default=10)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if asked.seconds <= 0 or asked.submissions < 1:
        parser.error("--seconds must be above 0 and --submissions at least 1")
    results = {"machine": describe_machine()} | measure(asked.seconds, asked.settle, asked.submissions)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2))
    for name, value in results.items():
        print(f"{name:28} {value}")


def measure(seconds: float, settle_s: float, submissions: int) -> dict[str, Any]:
    """Measure an idle service. Raises `BenchmarkFailed` if something does not start, or an attempt is rejected."""
    with tempfile.TemporaryDirectory(prefix="meshgrade-idle-") as made:
        folder = Path(made)
        source = copy_package(CALL_SLUG, folder / "problems").reference
        with fleet(folder, workers=1, module="benchmarks.stand_in_judge") as whole:
            return asyncio.run(_measure(whole, seconds, settle_s, submissions, source))


async def _measure(whole: Fleet, seconds: float, settle_s: float, submissions: int, source: str) -> dict[str, Any]:
    [worker] = whole.workers
    whole.api.start()
    await whole.api.wait_for(LISTENS)
    [token] = await add_students(whole.url, 1)
    worker.start()
    await worker.wait_for(GRADES)
    await asyncio.sleep(settle_s)
    both = await _per_s(whole, seconds)
    waits_s = await _submit(whole.address, token, source, submissions)
    queued_s = await _queued(whole.url)
    worker.stop()
    await asyncio.sleep(settle_s)
    api = await _per_s(whole, seconds)
    return {
        "transactions_per_s": round(both, 2),
        "transactions_per_s_of_the_api": round(api, 2),
        "seconds": seconds,
        "submissions": submissions,
        "median_ms_in_the_queue": round(statistics.median(queued_s) * 1000),
        "longest_ms_in_the_queue": round(max(queued_s) * 1000),
        "median_ms_to_the_verdict": round(statistics.median(waits_s) * 1000),
    }


async def _per_s(whole: Fleet, seconds: float) -> float:
    before, began = await _transactions(whole.url), time.monotonic()
    await asyncio.sleep(seconds)
    after = await _transactions(whole.url)
    # The query for the count is a transaction itself.
    return (after - before - 1) / (time.monotonic() - began)


async def _transactions(url: str) -> int:
    """The transactions so far. PostgreSQL counts those of a connection once it is closed, or idle for a second."""
    database = Database(url)
    try:
        async with database.reading() as session:
            return int(await session.scalar(_COUNT) or 0)
    finally:
        await database.close()


async def _queued(url: str) -> list[float]:
    """Return the seconds that each attempt waited for a worker."""
    database = Database(url)
    try:
        async with database.reading() as session:
            rows = await session.execute(select(AttemptRow.created_at, AttemptRow.started_at))
            return [(started - created).total_seconds() for created, started in rows if started]
    finally:
        await database.close()


async def _submit(address: str, token: str, source: str, number: int) -> list[float]:
    """Submit one after the other, with pauses. Returns the seconds until each verdict."""
    waits_s = []
    async with httpx.AsyncClient(base_url=address, timeout=90, headers={"Authorization": f"Bearer {token}"}) as client:
        for _ in range(number):
            await asyncio.sleep(_REST_S)
            began = time.perf_counter()
            answer = await client.post(f"/api/v1/problems/{CALL_SLUG}/attempts?wait=60", json={"source": source})
            waits_s.append(time.perf_counter() - began)
            if answer.status_code != 200 or answer.json()["verdict"]["status"] != "accepted":
                raise BenchmarkFailed(f"a submission was answered with {answer.status_code}: {answer.text[:500]}")
    return waits_s


if __name__ == "__main__":
    try:
        main()
    except MeshgradeError as error:
        sys.exit(f"Error: {error}")
