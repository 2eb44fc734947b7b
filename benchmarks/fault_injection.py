"""Show that nothing is lost if workers, the API and the database fail while a class submits.

Usage: python -m benchmarks.fault_injection [COUNT] [--workers N] [--stand-in] [--kill-every S] [--pause-every S]
[--database-restarts N] [--full-disks N --disk FOLDER] [--readers N] [--connections N] [--hand-in-for S] [--json FILE]

Every user posts, waits for the verdict and posts again, each time with an Idempotency-Key, and repeats every request
that got no answer. Meanwhile, every few seconds, one of the grading workers is killed with SIGKILL and restarted, but
of several workers never the only one that is grading. The API is killed and restarted at regular points. Then
everything is read back: over REST, and from the database, where a trigger has recorded every verdict that was written.

Options add more trouble: a worker is stopped for twice its lease and then continues, PostgreSQL restarts, its disk is
full for ten seconds, readers open pages all the time, or each process has only a few connections to the database.
"""

import argparse
import asyncio
import json
import math
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select, text

from app.core.database import Database
from app.grading.queue.models import AttemptRow
from benchmarks.errors import BenchmarkFailed
from benchmarks.faults import Plan, Run, Say, check_disk, troubled
from benchmarks.fleet import LISTENS, Fleet, fleet
from benchmarks.machine import describe_machine
from benchmarks.measure import percentile
from benchmarks.students import add_students
from benchmarks.workload import CALL_SLUG, copy_package
from grader.core.errors import MeshgradeError

_AGAIN_S = 0.2
_WAIT_S = 15
_PAGE = 100
# The table and the function are in a schema of their own, which the product's migrations ignore.
_NOTE_VERDICTS = (
    "CREATE SCHEMA benchmark",
    "CREATE TABLE benchmark.verdicts (attempt_id text)",
    "CREATE FUNCTION benchmark.note() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN INSERT INTO benchmark.verdicts VALUES (NEW.id); RETURN NULL; END $$",
    "CREATE TRIGGER note AFTER UPDATE OF verdict ON attempts FOR EACH ROW WHEN (NEW.verdict IS NOT NULL) "
    "EXECUTE FUNCTION benchmark.note()",
)


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
    parser.add_argument("--pause-every", type=float, default=math.inf, help="seconds")
    parser.add_argument("--database-restarts", type=int, default=0)
    parser.add_argument("--readers", type=int, default=0, help="who open pages all the time, one after the other")
    parser.add_argument("--connections", type=int, help="MESHGRADE_DATABASE_CONNECTIONS")
    parser.add_argument("--full-disks", type=int, default=0, help="how often --disk is filled for ten seconds")
    parser.add_argument("--disk", type=Path, help="a small file system of its own, for the database")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if asked.count < 1 or asked.workers < 1:
        parser.error("COUNT and --workers must be at least 1")
    if asked.full_disks and not asked.disk:
        parser.error("--full-disks needs --disk")
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
        asked.pause_every,
        asked.database_restarts,
        asked.readers,
        asked.connections,
        asked.full_disks,
        asked.disk,
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
    """Submit while faults happen. Raises `BenchmarkFailed` if something does not start, or a request is refused."""
    if plan.disk:
        check_disk(plan.disk)
    with tempfile.TemporaryDirectory(prefix="meshgrade-faults-") as made:
        folder = Path(made)
        source = copy_package(CALL_SLUG, folder / "problems").reference
        settings: dict[str, object] = {"lease_s": plan.lease_s}
        if plan.connections is not None:
            settings["database_connections"] = plan.connections
        with fleet(folder, plan.disk, workers=plan.workers, module=plan.module, **settings) as whole:
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
        tokens = await add_students(whole.url, plan.users + plan.readers)
        tokens, readers = tokens[: plan.users], tokens[plan.users :]
        for worker in whole.workers:
            worker.start()
        for worker in whole.workers:
            # Later starts of this worker find in its folder what this one prepares.
            await worker.wait_for(f"{CALL_SLUG} is ready")
        say(f"{plan.users} users submit {plan.count} sources; every {plan.kill_every_s:g} s a worker is killed")
        run = Run()
        started = time.monotonic()
        until = started + plan.hand_in_s
        async with troubled(plan, run, whole, database, readers, say):
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
        # Counts attempts whose id no response contained, and verdicts beyond an attempt's first.
        "duplicates": len(rows) - len(answered) + len(written) - len(set(written)),
        "failed": statuses["failed"],
        # Every submission is the reference, so a rejection is wrong.
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
            "workers_paused": run.pauses,
            "database_restarted": run.database_restarts,
            "disk_full": run.full_disks,
            "database_ended_on_a_full_disk": run.database_ends,
            "pages_read": len(run.pages_ms),
            "pages_missed": run.pages_missed,
            "page_ms_p50": round(statistics.median(run.pages_ms)) if run.pages_ms else None,
            "page_ms_p95": round(percentile(run.pages_ms, 95)) if run.pages_ms else None,
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
