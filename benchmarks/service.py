"""The figures of the service around grading: a class that submits all at once, and the cost of a request."""

import asyncio
import os
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL

from benchmarks.errors import BenchmarkFailed
from benchmarks.measure import Measured, Say, percentile
from benchmarks.minimal_service import ratio
from benchmarks.server import Server
from benchmarks.students import Served, add_students, work
from benchmarks.workload import CALL_SLUG, copy_package


@dataclass(frozen=True, slots=True)
class Plan:
    """`module` is the command line that serves: the product's, or the one with a stand-in for the judge.

    `alone` is how many submissions are judged with nobody else at work, for each core.
    """

    alone: int
    students: int
    within_s: float
    limit_s: float
    rounds: int
    round_s: float
    module: str


FULL = Plan(alone=20, students=500, within_s=10.0, limit_s=900.0, rounds=7, round_s=3.0, module="app.entry.cli")
QUICK = Plan(
    alone=1, students=20, within_s=1.0, limit_s=60.0, rounds=1, round_s=0.5, module="benchmarks.stand_in_judge"
)


def measure_service(say: Say, *, quick: bool) -> Measured:
    """Measure the service. Raises `BenchmarkFailed` if it does not start, or refuses a valid request."""
    return measure_plan(QUICK if quick else FULL, say)


def measure_plan(plan: Plan, say: Say) -> Measured:
    with tempfile.TemporaryDirectory(prefix="meshgrade-bench-") as made:
        folder = Path(made)
        package = copy_package(CALL_SLUG, folder / "problems")
        say("starting the service")
        kind = f"{CALL_SLUG}/attempts"
        with Server(folder / "data", folder / "problems", kind, say, plan.module) as server:
            say(f"GET /problems beside a bare hello-world, {plan.rounds} rounds of {plan.round_s} s each")
            server.settle()
            per_s, hello_ratio = ratio(server.address, rounds=plan.rounds, seconds=plan.round_s)
            cores = len(os.sched_getaffinity(0))
            say(f"{plan.alone * cores} submissions by {2 * cores} clients, with no class")
            alone = server.post_many(package.reference, at_once=2 * cores, count=plan.alone * cores)
            say(f"{plan.students} students submit within {plan.within_s:.0f} s")
            served = asyncio.run(_class(server, folder / "data", package.reference, plan))
    if served.refused:
        raise BenchmarkFailed(f"{len(served.refused)} requests were refused, such as {served.refused[0]}")
    figures = {
        "problems_per_s": per_s,
        "problems_ratio": hello_ratio,
        "post_ms_p50": statistics.median(served.post_ms),
        "post_ms_p95": percentile(served.post_ms, 95),
        "page_ms_p50": statistics.median(served.page_ms),
        "page_ms_p95": percentile(served.page_ms, 95),
        "judged_per_s": served.judged / served.seconds,
        "judged": served.judged,
        "lost": plan.students - served.judged,
        "alone_per_s": alone.per_s,
        "judged_share": served.judged / served.seconds / alone.per_s,
    }
    return Measured(
        {f"service.{key}": round(float(value), 3) for key, value in figures.items()},
        f"{CALL_SLUG}/reference",
        {"students": plan.students, "pages": len(served.page_ms), "rounds": plan.rounds},
    )


async def _class(server: Server, data: Path, source: str, plan: Plan) -> Served:
    database = URL.create("sqlite+aiosqlite", database=str(data / "meshgrade.sqlite3"))
    tokens = await add_students(database, plan.students)
    return await work(server.address, tokens, CALL_SLUG, source, within_s=plan.within_s, limit_s=plan.limit_s)
