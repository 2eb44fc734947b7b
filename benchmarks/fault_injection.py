"""Nothing is lost: a class submits while workers, and the API too, are killed one after another.

Usage: python -m benchmarks.fault_injection [COUNT] [--workers N] [--stand-in] [--kill-every S] [--hand-in-for S]
[--json FILE]

Every user posts, waits for the verdict and posts again, each time with an Idempotency-Key, and repeats every request
that got no answer. Meanwhile, every few seconds, one of the grading workers, unless it is the only one, is killed with
SIGKILL and restarted. The API is killed and restarted at regular points. Then everything is read back: over REST, and
from the database, where a trigger has recorded every verdict that was written.
"""

import argparse
import asyncio
import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select, text

from app.core.clock import now
from app.core.database import Database
from app.grading.queue.models import AttemptRow
from benchmarks.errors import BenchmarkFailed
from benchmarks.fleet import GRADES, LISTENS, Fleet, fleet
from benchmarks.machine import describe_machine
from benchmarks.measure import percentile
from benchmarks.students import add_students
from benchmarks.workload import CALL_SLUG, copy_package
from grader.core.errors import MeshgradeError

_AGAIN_S = 0.2
_LOOK_S = 0.2
_TELL_S = 10.0
_WAIT_S = 15
_PAGE = 100
# A separate schema, which the product's migrations ignore.
_NOTE_VERDICTS = (
    "CREATE SCHEMA benchmark",
    "CREATE TABLE benchmark.verdicts (attempt_id text)",
    "CREATE FUNCTION benchmark.note() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN INSERT INTO benchmark.verdicts VALUES (NEW.id); RETURN NULL; END $$",
    "CREATE TRIGGER note AFTER UPDATE OF verdict ON attempts FOR EACH ROW WHEN (NEW.verdict IS NOT NULL) "
    "EXECUTE FUNCTION benchmark.note()",
)
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """`limit_s`: an attempt without a verdict by then counts as lost. `hand_in_s`: no new submissions after that."""

    count: int
    workers: int
    module: str
    kill_every_s: float
    restarts: int
    lease_s: float
    limit_s: float
    hand_in_s: float = math.inf

    @property
    def users(self) -> int:
        return max(1, min(100, self.count // 3))


@dataclass(slots=True)
class Run:
    """What has happened so far. `attempts` holds the id that answered each key."""

    attempts: dict[str, str] = field(default_factory=dict)
    handed_in: int = 0
    ended: int = 0
    sent_again: set[str] = field(default_factory=set)
    kills: int = 0
    restarts: int = 0
    # By attempt and try: when a worker was killed while it graded this one.
    interrupted: dict[tuple[str, int], datetime] = field(default_factory=dict)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fault_injection")
    parser.add_argument("count", nargs="?", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--stand-in", action="store_true", help="a grader that only uses up CPU time")
    parser.add_argument("--kill-every", type=float, default=5.0, help="seconds")
    parser.add_argument("--restarts", type=int, default=3, help="of the API")
    parser.add_argument("--lease", type=float, default=6.0, help="MESHGRADE_LEASE_S")
    parser.add_argument(
        "--hand-in-for", type=float, default=math.inf, help="seconds; after that, open submissions are only finished"
    )
    parser.add_argument(
        "--limit", type=float, default=3600.0, help="seconds; a submission without a verdict by then counts as lost"
    )
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if asked.count < 1 or asked.workers < 1:
        parser.error("COUNT and --workers must be at least 1")
    module = "benchmarks.stand_in_judge" if asked.stand_in else "app.entry.cli"
    plan = Plan(
        asked.count,
        asked.workers,
        module,
        asked.kill_every,
        asked.restarts,
        asked.lease,
        asked.limit,
        asked.hand_in_for,
    )
    started = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - started:5.0f} s  {line}", file=sys.stderr, flush=True)

    results = {"machine": describe_machine()} | measure(plan, say)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2))
    for name, value in ({key: each for key, each in results.items() if "." in key} | results["faults"]).items():
        print(f"{name:28} {value}")


def measure(plan: Plan, say: Say) -> dict[str, Any]:
    """Raises `BenchmarkFailed` if something does not start, or a request is refused."""
    with tempfile.TemporaryDirectory(prefix="meshgrade-faults-") as made:
        folder = Path(made)
        source = copy_package(CALL_SLUG, folder / "problems").reference
        with fleet(folder, workers=plan.workers, module=plan.module, lease_s=plan.lease_s) as whole:
            return asyncio.run(_measure(plan, whole, source, say))


async def _measure(plan: Plan, whole: Fleet, source: str, say: Say) -> dict[str, Any]:
    say("starting the API and the workers")
    whole.api.start()
    await whole.api.wait_for(LISTENS)
    database = Database(whole.url)
    try:
        async with database.engine.begin() as connection:
            for statement in _NOTE_VERDICTS:
                await connection.execute(text(statement))
        tokens = await add_students(whole.url, plan.users)
        for worker in whole.workers:
            worker.start()
        for worker in whole.workers:
            # Later starts find in its folder what this one has prepared.
            await worker.wait_for(f"{CALL_SLUG} is ready")
        say(f"{plan.users} users submit {plan.count} sources; every {plan.kill_every_s:g} s a worker is killed")
        run = Run()
        started = time.monotonic()
        until = started + plan.hand_in_s
        async with _troubled(plan, run, whole, database, say):
            with suppress(TimeoutError):
                async with asyncio.timeout(plan.limit_s):
                    await asyncio.gather(
                        *(
                            _user(run, whole.address, token, range(first, plan.count, plan.users), source, until)
                            for first, token in enumerate(tokens)
                        )
                    )
        taken_s = time.monotonic() - started
        say("reading everything back")
        await whole.api.wait_for(LISTENS)
        listed = [each for token in tokens for each in await _listed(whole.address, token)]
        return await _weigh(plan, run, database, listed, taken_s)
    finally:
        await database.close()


@asynccontextmanager
async def _troubled(plan: Plan, run: Run, whole: Fleet, database: Database, say: Say) -> AsyncIterator[None]:
    """Kill and restart until the block ends. An error in doing so also ends the block."""
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(each)
            for each in (
                _kill_workers(plan, run, whole, database),
                _restart_api(plan, run, whole, say),
                _tell(plan, run, say),
            )
        ]
        yield
        for task in tasks:
            task.cancel()


async def _kill_workers(plan: Plan, run: Run, whole: Fleet, database: Database) -> None:
    chance = random.Random(1)
    while True:
        await asyncio.sleep(plan.kill_every_s)
        # A worker that is still starting holds no attempt, so its death would show nothing. And one is spared: if a
        # start takes longer than the time between two kills, the first worker that is up would always be killed next,
        # and nothing would be graded.
        grading = [each for each in whole.workers if each.said(GRADES)]
        if len(grading) < min(2, plan.workers):
            continue
        worker = chance.choice(grading)
        moment = now()
        worker.kill()
        worker.start()
        run.kills += 1
        async with database.reading() as session:
            running = await session.execute(
                select(AttemptRow.id, AttemptRow.tries).where(AttemptRow.status == "running")
            )
            # Most of these are graded by the workers that live: only a try that is followed by another was cut short.
            # The first kill that finds a try running counts, since a try is shorter than the time between two kills.
            for attempt_id, tries in running:
                run.interrupted.setdefault((attempt_id, tries), moment)


async def _restart_api(plan: Plan, run: Run, whole: Fleet, say: Say) -> None:
    for number in range(1, plan.restarts + 1):
        while run.ended < plan.count * number // (plan.restarts + 1):
            await asyncio.sleep(_LOOK_S)
        whole.api.kill()
        whole.api.start()
        run.restarts += 1
        say(f"the API was killed and is started again, {number} of {plan.restarts}")


async def _tell(plan: Plan, run: Run, say: Say) -> None:
    while True:
        await asyncio.sleep(_TELL_S)
        say(f"{run.ended} of {plan.count} have ended, {run.handed_in} are submitted; {run.kills} workers were killed")


async def _user(run: Run, address: str, token: str, numbers: range, source: str, until: float) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=f"{address}/api/v1", headers=headers, timeout=60) as client:
        for number in numbers:
            if time.monotonic() > until:
                return
            key = f"submission-{number}"
            run.handed_in += 1
            made = await _ask(
                run,
                client,
                "POST",
                f"/problems/{CALL_SLUG}/attempts",
                headers={"Idempotency-Key": key},
                json={"source": source},
            )
            run.attempts[key] = made["id"]
            while made["status"] in ("queued", "running"):
                made = await _ask(run, client, "GET", f"/attempts/{made['id']}", params={"wait": _WAIT_S})
            run.ended += 1


async def _ask(run: Run, client: httpx.AsyncClient, method: str, path: str, **sent: Any) -> dict[str, Any]:
    """Repeat a request until it is answered, like a client that does not know why the server is away."""
    while True:
        try:
            answer = await client.request(method, path, **sent)
        except httpx.TransportError:
            if method == "POST":
                run.sent_again.add(sent["headers"]["Idempotency-Key"])
            await asyncio.sleep(_AGAIN_S)
            continue
        if answer.status_code == 503:
            await asyncio.sleep(float(answer.headers.get("Retry-After", _AGAIN_S)))
            continue
        if not answer.is_success:
            raise BenchmarkFailed(f"{method} {path} was answered with {answer.status_code}: {answer.text[:500]}")
        read: dict[str, Any] = answer.json()
        return read


async def _listed(address: str, token: str) -> list[dict[str, Any]]:
    """Every attempt of a user, page by page."""
    found: list[dict[str, Any]] = []
    headers = {"Authorization": f"Bearer {token}"}
    before: dict[str, str] = {}
    async with httpx.AsyncClient(base_url=f"{address}/api/v1", headers=headers, timeout=60) as client:
        while True:
            page = (await client.get("/attempts", params={"limit": str(_PAGE), **before})).raise_for_status().json()
            found += page["attempts"]
            if page["next"] is None:
                return found
            before = {"before": page["next"]}


async def _weigh(
    plan: Plan, run: Run, database: Database, listed: list[dict[str, Any]], taken_s: float
) -> dict[str, Any]:
    async with database.reading() as session:
        rows = (await session.execute(select(AttemptRow.id, AttemptRow.tries, AttemptRow.finished_at))).all()
        written = (await session.scalars(text("SELECT attempt_id FROM benchmark.verdicts"))).all()
    if {each["id"] for each in listed} != {row.id for row in rows}:
        raise BenchmarkFailed(f"REST lists {len(listed)} attempts, the database holds {len(rows)} others")
    answered = set(run.attempts.values())
    statuses = Counter(each["verdict_status"] for each in listed if each["id"] in answered)
    tries = {row.id: row.tries for row in rows}
    finished = {row.id: row.finished_at for row in rows if row.finished_at is not None}
    waited_s = [
        (finished[attempt_id] - moment).total_seconds()
        for (attempt_id, number), moment in run.interrupted.items()
        if attempt_id in finished and tries[attempt_id] > number
    ]
    figures = {
        "verdicts": statuses["accepted"],
        # Attempts that no answer named, and attempts judged twice.
        "duplicates": len(rows) - len(answered) + len(written) - len(set(written)),
        "failed": statuses["failed"],
        # The submission was the reference.
        "wrong": statuses["rejected"],
        "lost": run.handed_in - statuses["accepted"] - statuses["failed"] - statuses["rejected"],
        "kill_to_verdict_s_p50": round(statistics.median(waited_s), 1) if waited_s else None,
    }
    return {f"service.fault_{name}": value for name, value in figures.items()} | {
        "faults": {
            "submissions": run.handed_in,
            "grader": "a stand-in" if plan.module == "benchmarks.stand_in_judge" else "the judge",
            "workers": plan.workers,
            "seconds": round(taken_s, 1),
            "workers_killed": run.kills,
            "api_killed": run.restarts,
            "posts_sent_again": len(run.sent_again),
            "tries_cut_short": len(waited_s),
            "kill_to_verdict_s_p95": round(percentile(waited_s, 95), 1) if waited_s else None,
            "attempts_by_tries": dict(sorted(Counter(str(each) for each in tries.values()).items())),
        }
    }


if __name__ == "__main__":
    try:
        main()
    except MeshgradeError as error:
        sys.exit(f"Error: {error}")
