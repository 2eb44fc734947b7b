"""Measure what happens when there is far too much to do: a few thousand students submit within seconds.

Usage: python -m benchmarks.overload [--students N] [--within SECONDS] [--limit SECONDS]

The judge is a stand-in that executes nothing. Each student reads pages and submits as in `bench --only service`, and
comes back after `Retry-After` if the service is too busy.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

from sqlalchemy import URL

from benchmarks.measure import percentile
from benchmarks.server import Server
from benchmarks.students import Served, add_students, work
from benchmarks.workload import CALL_SLUG, copy_package
from grader.core.errors import MeshgradeError

_CPU_S = "0.02"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overload")
    parser.add_argument("--students", type=int, default=2000)
    parser.add_argument("--within", type=float, default=10.0, help="seconds in which all of them begin")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds after which they give up")
    asked = parser.parse_args()
    if asked.students < 1 or asked.within <= 0 or asked.limit <= 0:
        parser.error("--students must be at least 1, --within and --limit above 0")
    _describe(_measure(asked.students, asked.within, asked.limit), asked.students)


def _measure(students: int, within_s: float, limit_s: float) -> Served:
    os.environ.setdefault("STAND_IN_CPU_S", _CPU_S)
    with tempfile.TemporaryDirectory(prefix="meshgrade-overload-") as made:
        folder = Path(made)
        source = copy_package(CALL_SLUG, folder / "problems").reference
        module = "benchmarks.stand_in_judge"
        with Server(folder / "data", folder / "problems", f"{CALL_SLUG}/attempts", print, module) as server:
            database = URL.create("sqlite+aiosqlite", database=str(folder / "data" / "meshgrade.sqlite3"))
            tokens = asyncio.run(add_students(database, students))
            server.settle()
            print(f"{students} students begin within {within_s:g} s", flush=True)
            return asyncio.run(
                work(server.address, tokens, CALL_SLUG, source, within_s=within_s, limit_s=limit_s),
            )


def _describe(served: Served, students: int) -> None:
    # A lost connection ends its student's work.
    rows = {
        "submissions lost": students - served.judged,
        "requests failed": len(served.refused),
        "requests served": len(served.answer_ms),
        "503 with Retry-After": len(served.busy_ms),
        "p95 until a 503, ms": percentile(served.busy_ms, 95) if served.busy_ms else 0,
        "longest until a 503, ms": max(served.busy_ms, default=0),
        "p95 until any answer, ms": percentile(served.answer_ms + served.busy_ms, 95),
        "p50, p95 until a submission was stored, s": _spread(served.post_ms),
        "p50, p95 until a page was read, s": _spread(served.page_ms),
        "seconds until the last verdict": served.seconds,
    }
    print("| | |\n| --- | --- |")
    for name, value in rows.items():
        print(f"| {name} | {value if isinstance(value, str) else f'{value:,.0f}'} |")
    for each in served.refused[:5]:
        print(each)


def _spread(taken_ms: list[float]) -> str:
    return ", ".join(f"{percentile(taken_ms, each) / 1000:.1f}" for each in (50, 95))


if __name__ == "__main__":
    try:
        main()
    except MeshgradeError as error:
        sys.exit(f"Error: {error}")
