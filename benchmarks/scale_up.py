"""Measure how soon one more worker is useful, with and without shared reference answers, and its memory when idle.

Usage: python -m benchmarks.scale_up [--problems N] [--rounds N] [--asleep] [--json FILE]

The first worker prepares all problems. Then each round starts a new worker with an empty folder while a submission
waits in the queue: once with the answers in the database, and once without them. The new worker is stopped afterwards.
The memory of its processes is read once they are idle: resident pages, each shared one divided by the number of
processes that share it. With `--asleep`, it is read again after a quarter of an hour without work.
"""

import argparse
import asyncio
import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import text

from app.core.database import Database
from benchmarks.errors import BenchmarkFailed
from benchmarks.fleet import LISTENS, Daemon, Fleet, fleet
from benchmarks.machine import describe_machine
from benchmarks.processes import pss_mb, wait_until_quiet
from benchmarks.students import add_students
from benchmarks.workload import CALL_SLUG, CHECKOUT, copy_package
from grader.core.errors import MeshgradeError
from grader.sandbox.pool import ASLEEP_S

_ALL_READY = "All problems are prepared."
# How a worker ends its preparation if the CPU time for it has run out.
_SOME_LEFT = "are prepared when they are first needed"
_LIMIT_S = 600.0
_LOOK_S = 0.1
# The pool needs less time than this to end its forks.
_MORE_S = 30.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale_up")
    parser.add_argument("--problems", type=int, default=10_000, help="at most this many of the shipped ones")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--asleep", action="store_true", help="also read its memory a quarter of an hour later")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if asked.problems < 1 or asked.rounds < 1:
        parser.error("--problems and --rounds must be at least 1")
    results = {"machine": describe_machine()} | measure(asked.problems, asked.rounds, asleep=asked.asleep)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2))
    for name, value in results.items():
        print(f"{name:28} {value}")


def measure(problems: int, rounds: int, *, asleep: bool = False) -> dict[str, Any]:
    """Measure new workers. Raises `BenchmarkFailed` if something does not start, or the submission is not accepted."""
    with tempfile.TemporaryDirectory(prefix="meshgrade-scale-up-") as made:
        folder = Path(made)
        shipped = sorted(path.parent.name for path in (CHECKOUT / "problems").glob("*/problem.toml"))
        slugs = [CALL_SLUG, *(slug for slug in shipped if slug != CALL_SLUG)][:problems]
        packages = [copy_package(slug, folder / "problems") for slug in slugs]
        with fleet(folder, workers=2, module="app.entry.cli") as whole:
            return asyncio.run(_measure(whole, folder, packages[0].reference, rounds, asleep)) | {
                "problems": len(slugs),
                "rounds": rounds,
            }


async def _measure(whole: Fleet, folder: Path, source: str, rounds: int, asleep: bool) -> dict[str, Any]:
    whole.api.start()
    await whole.api.wait_for(LISTENS)
    (token,) = await add_students(whole.url, 1)
    first, new = whole.workers
    _say("the first worker prepares the problems")
    await _prepared(first)
    first.stop()
    database = Database(whole.url)
    seconds: dict[str, list[dict[str, float]]] = {"shared": [], "alone": []}
    try:
        for _ in range(rounds):
            for kind, measured in seconds.items():
                if kind == "alone":
                    await _forget(database)
                # A worker that found no answers shares its own, so the next round has them again.
                measured.append(await _one(whole, new, folder / "worker-2", token, source))
                _say(f"{kind}: {measured[-1]}")
                if asleep and kind == "alone" and len(measured) == rounds:
                    await asyncio.sleep(ASLEEP_S + _MORE_S)
                    measured[-1]["asleep_mb"] = pss_mb(new.pid)
                new.stop()
    finally:
        await database.close()
    return {
        kind: {name: round(statistics.median(each[name] for each in measured), 1) for name in measured[0]}
        | {name: round(value, 1) for name, value in measured[-1].items() if name not in measured[0]}
        for kind, measured in seconds.items()
    }


async def _one(whole: Fleet, worker: Daemon, folder: Path, token: str, source: str) -> dict[str, float]:
    """Seconds from the worker's start to a first verdict, and to the end of its preparation; then its memory in MB."""
    shutil.rmtree(folder, ignore_errors=True)
    async with httpx.AsyncClient(
        base_url=whole.address, timeout=90, headers={"Authorization": f"Bearer {token}"}
    ) as client:
        made = await client.post(f"/api/v1/problems/{CALL_SLUG}/attempts", json={"source": source})
        if made.status_code != 202:
            raise BenchmarkFailed(f"a submission was answered with {made.status_code}: {made.text[:500]}")
        began = time.monotonic()
        ready = asyncio.create_task(_prepared(worker))
        try:
            verdict_s = await _verdict_s(client, made.json()["id"], began)
            await ready
        finally:
            ready.cancel()
    ready_s = time.monotonic() - began
    await asyncio.to_thread(wait_until_quiet, worker.pid, limit_s=_LIMIT_S)
    return {"verdict_s": verdict_s, "ready_s": ready_s, "idle_mb": pss_mb(worker.pid)}


async def _verdict_s(client: httpx.AsyncClient, attempt: str, began: float) -> float:
    while time.monotonic() - began < _LIMIT_S:
        found = (await client.get(f"/api/v1/attempts/{attempt}?wait=30")).json()
        if found["status"] == "finished":
            if found["verdict"]["status"] != "accepted":
                raise BenchmarkFailed(f"the submission was not accepted: {found['verdict']}")
            return time.monotonic() - began
    raise BenchmarkFailed(f"the submission has no verdict after {_LIMIT_S:.0f} s")


async def _prepared(worker: Daemon) -> None:
    worker.start()
    await worker.wait_for("Grading ")
    async with asyncio.timeout(_LIMIT_S):
        while not (worker.said(_ALL_READY) or worker.said(_SOME_LEFT)):
            await asyncio.sleep(_LOOK_S)


async def _forget(database: Database) -> None:
    async with database.writing() as session:
        await session.execute(text("DELETE FROM shared_answers"))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main()
    except MeshgradeError as error:
        sys.exit(f"Error: {error}")
