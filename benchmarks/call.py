"""The figures of `call` mode: bare, bare with a cache, the limit, and the service, side by side in one run."""

import os
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import describe_machine
from benchmarks.plain import Rate, WarmProcess, run_fresh, run_many
from benchmarks.processes import kill_all, private_mb, warm_forks
from benchmarks.server import Server
from benchmarks.walls import cost_of_walls_ms
from benchmarks.workload import Workload, copy_package, take_workload

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How often what is measured. In each round everything takes its turn, so that noise of the machine hits all alike.

    `pairs` is how many times in a round the limit and the service, which are quick, take theirs. `hidden` is False
    for a plan that only shows that everything works: it measures runs of the public cases.
    """

    rounds: int
    pairs: int
    bare_a_core: int
    ours_a_core: int
    cold: int
    walls: int
    hidden: bool = True


FULL = Plan(rounds=7, pairs=6, bare_a_core=2, ours_a_core=20, cold=5, walls=15)
QUICK = Plan(rounds=1, pairs=1, bare_a_core=1, ours_a_core=2, cold=1, walls=1, hidden=False)


@dataclass(slots=True)
class _Samples:
    bare: list[float] = field(default_factory=list)
    cached: list[float] = field(default_factory=list)
    limit: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    fork_mb: list[float] = field(default_factory=list)


def measure(plan: Plan, say: Say) -> dict[str, object]:
    """Measure by `plan` and return the figures by their keys. `say` is told each phase as it begins.

    Raises:
      BenchmarkFailed: something did not work; no figure is made up for it.
    """
    with tempfile.TemporaryDirectory(prefix="meshgrade-bench-") as made:
        folder = Path(made)
        package = copy_package(folder / "problems")
        say("starting the service; it makes the cases and runs the reference")
        kind = "attempts" if plan.hidden else "runs"
        with Server(folder / "data", folder / "problems", kind, say) as server:
            workload = take_workload(package, folder / "data", folder / "workload", hidden=plan.hidden)
            samples = _idle(plan, workload, server, folder / "cache", say)
            bare, ours = _sustained(plan, workload, server, say)
        say(f"the walls: {plan.walls} gradings with and {plan.walls} without")
        walls_ms = cost_of_walls_ms(workload, folder / "data", plan.walls, hidden=plan.hidden)
    return _figures(samples, bare, ours, walls_ms) | {
        "machine": describe_machine(),
        "repetitions": {
            "cases": workload.cases,
            "bare": len(samples.bare),
            "bare_cached": len(samples.cached),
            "limit": len(samples.limit),
            "ours": len(samples.ours),
            "cold": len(samples.cold),
            "walls": plan.walls,
            "throughput_bare": plan.bare_a_core * _cores(),
            "throughput_ours": plan.ours_a_core * _cores(),
        },
    }


def _idle(plan: Plan, workload: Workload, server: Server, cache: Path, say: Say) -> _Samples:
    """One submission at a time, nothing else going on: before each sample the service has come to rest."""
    samples = _Samples()
    say("once each, unmeasured: bare, bare with a cache (fills it), a warm process")
    run_fresh(workload)
    run_fresh(workload, cache)
    with WarmProcess(workload) as warm:
        server.settle()
        server.post(workload)
        for number in range(1, plan.rounds + 1):
            server.settle()
            samples.bare.append(run_fresh(workload).wall_ms)
            samples.cached.append(run_fresh(workload, cache).wall_ms)
            for _ in range(plan.pairs):
                samples.limit.append(warm.run())
                server.settle()
                samples.ours.append(server.post(workload))
            say(
                f"round {number} of {plan.rounds}: bare {samples.bare[-1]:,.0f} ms, cached "
                f"{samples.cached[-1]:,.0f} ms, limit {samples.limit[-1]:,.0f} ms, ours {samples.ours[-1]:,.0f} ms"
            )
    say(f"the pool emptied, then a submission, {plan.cold} times")
    for _ in range(plan.cold):
        server.settle()
        forks = warm_forks(server.pid)
        # The largest: among them are generic ones, which hold less.
        samples.fork_mb += [max(map(private_mb, forks))] if forks else []
        kill_all(forks)
        samples.cold.append(server.post(workload))
    return samples


def _sustained(plan: Plan, workload: Workload, server: Server, say: Say) -> tuple[Rate, Rate]:
    cores = _cores()
    say(f"sustained: {plan.bare_a_core * cores} bare processes, {cores} at a time")
    server.settle()
    bare = run_many(workload, at_once=cores, count=plan.bare_a_core * cores)
    say(f"sustained: {plan.ours_a_core * cores} submissions by {2 * cores} clients")
    ours = server.post_many(workload, at_once=2 * cores, count=plan.ours_a_core * cores)
    return bare, ours


def _figures(samples: _Samples, bare: Rate, ours: Rate, walls_ms: float) -> dict[str, object]:
    ours_ms = statistics.median(samples.ours)
    figures = {
        "call.bare_ms_p50": statistics.median(samples.bare),
        "call.bare_cached_ms_p50": statistics.median(samples.cached),
        "call.limit_ms_p50": statistics.median(samples.limit),
        "call.ours_ms_p50": ours_ms,
        "call.ours_ms_p95": percentile(samples.ours, 95),
        "call.speedup": statistics.median(samples.bare) / ours_ms,
        "call.speedup_cached": statistics.median(samples.cached) / ours_ms,
        "call.throughput_ratio": ours.per_s / bare.per_s,
        "call.cpu_ratio": ours.cpu_s / bare.cpu_s,
        "call.walls_ms": walls_ms,
        "call.warm_fork_private_mb": statistics.median(samples.fork_mb) if samples.fork_mb else None,
        "call.cold_ms_p50": statistics.median(samples.cold),
    }
    return {key: None if value is None else round(value, 3) for key, value in figures.items()}


def percentile(samples: list[float], percent: int) -> float:
    """The smallest sample that at least `percent` of a hundred do not exceed; always one that was measured."""
    return sorted(samples)[-(-len(samples) * percent // 100) - 1]


def _cores() -> int:
    return len(os.sched_getaffinity(0))
