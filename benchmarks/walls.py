"""The cost of the walls: the same warm forks with all walls, and without those around a fork."""

import os
import statistics
import time
from pathlib import Path

from app.core.data_folder import judging_secret_of, read_secret
from benchmarks.errors import BenchmarkFailed
from benchmarks.processes import wait_until_quiet
from benchmarks.workload import Workload
from grader.judging.judge import Judge
from grader.sandbox.build import build_sandbox
from grader.sandbox.walls import REMOVABLE


def cost_of_walls_ms(workload: Workload, data: Path, count: int, *, hidden: bool) -> float:
    """Return the median time of gradings behind all walls minus the median without them. They alternate, on warm forks.

    Both use only the judge, without HTTP or database, whose times would hide the difference.

    Args:
      data: the data folder of a service that has ended, whose cached reference answers are used again.
    """
    secret, cache = judging_secret_of(read_secret(data)), data / "cache"
    with build_sandbox(cache) as walled, build_sandbox(cache, without=frozenset(REMOVABLE)) as open_:
        judges = [Judge(sandbox, secret, cache) for sandbox in (walled, open_)]
        for judge in judges:
            judge.prepare(workload.package)
            _grade(judge, workload, hidden)
        times: list[list[float]] = [[], []]
        for _ in range(count):
            for judge, samples in zip(judges, times, strict=True):
                samples.append(_grade(judge, workload, hidden))
    with_walls, without = map(statistics.median, times)
    return with_walls - without


def _grade(judge: Judge, workload: Workload, hidden: bool) -> float:
    wait_until_quiet(os.getpid())
    started = time.perf_counter()
    verdict = judge.judge(workload.package, workload.source, hidden=hidden)
    taken_ms = (time.perf_counter() - started) * 1000
    if verdict.status != "accepted":
        raise BenchmarkFailed(f"an accepted submission was {verdict.status}: {verdict.checks[0].message}")
    return taken_ms
