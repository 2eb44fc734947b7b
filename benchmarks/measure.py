"""The measurements of both modes: bare, bare with a cache, the limit, and the service, side by side in one run."""

import os
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.plain_processes import Rate, WarmProcess, run_fresh, run_many
from benchmarks.processes import kill_all, private_mb, waits_for_work, warm_forks
from benchmarks.server import Graded, Server
from benchmarks.workload import Choose, Workload, copy_package, take_workload

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How often each is measured. In each round everything takes a turn, so that noise affects all equally.

    The limit and the service are quick, so they take `pairs` turns per round. `hidden` is False for a plan that only
    shows that everything works: it measures runs of the public cases.
    """

    rounds: int
    pairs: int
    bare_a_core: int
    ours_a_core: int
    cold: int
    walls: int = 0
    hidden: bool = True


@dataclass(slots=True)
class Samples:
    """Milliseconds, except `fork_mb`."""

    bare: list[float] = field(default_factory=list)
    cached: list[float] = field(default_factory=list)
    limit: list[float] = field(default_factory=list)
    ours: list[Graded] = field(default_factory=list)
    again: list[Graded] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    fork_mb: list[float] = field(default_factory=list)


# Returns the figures that only one mode has, by their keys without the part's name. They come from the samples, or are
# measured in a data folder whose service has ended.
More = Callable[[Samples, Workload, Path], dict[str, float]]


@dataclass(frozen=True, slots=True)
class Part:
    """The measurements under one name, with which all their keys begin.

    With `again`, each submission is sent a second time, when its programs are known.
    """

    name: str
    slug: str
    choose: Choose
    more: More
    again: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """`figures` by their keys, the graded `submission`, and the `repetitions` of each measurement."""

    figures: dict[str, float | None]
    submission: str
    repetitions: dict[str, int]


def measure(part: Part, plan: Plan, say: Say) -> Measured:
    """Measure according to `plan`. `say` receives each phase as it begins.

    Raises:
      BenchmarkFailed: something did not work, so there is no figure for it.
    """
    with tempfile.TemporaryDirectory(prefix="meshgrade-bench-") as made:
        folder = Path(made)
        package = copy_package(part.slug, folder / "problems")
        say("starting the service; it makes the cases and runs the reference")
        kind = "attempts" if plan.hidden else "runs"
        with Server(folder / "data", folder / "problems", f"{part.slug}/{kind}", say) as server:
            workload = take_workload(
                package, part.choose(package), folder / "data", folder / "workload", hidden=plan.hidden
            )
            samples = _idle(plan, workload, server, folder / "cache", say, again=part.again)
            bare, ours = _sustained(plan, workload, server, say)
        figures = _figures(samples, bare, ours) | part.more(samples, workload, folder / "data")
    repetitions = {
        "cases": workload.cases,
        "bare": len(samples.bare),
        "bare_cached": len(samples.cached),
        "limit": len(samples.limit),
        "ours": len(samples.ours),
        "cold": len(samples.cold),
        "walls": plan.walls,
        "throughput_bare": plan.bare_a_core * _cores(),
        "throughput_ours": plan.ours_a_core * _cores(),
    }
    return Measured(
        {f"{part.name}.{key}": None if value is None else round(float(value), 3) for key, value in figures.items()},
        f"{part.slug}/{workload.name}",
        {name: number for name, number in repetitions.items() if number},
    )


def _idle(plan: Plan, workload: Workload, server: Server, cache: Path, say: Say, *, again: bool) -> Samples:
    """Measure one submission at a time with nothing else running: the service is idle before each sample."""
    samples = Samples()
    say("once each, unmeasured: bare, bare with a cache (fills it), a warm process")
    run_fresh(workload)
    run_fresh(workload, cache)
    with WarmProcess(workload) as warm:
        server.settle()
        server.post(workload.source)
        for number in range(1, plan.rounds + 1):
            server.settle()
            samples.bare.append(run_fresh(workload).wall_ms)
            samples.cached.append(run_fresh(workload, cache).wall_ms)
            for _ in range(plan.pairs):
                samples.limit.append(warm.run())
                server.settle()
                samples.ours.append(server.post(workload.source))
                if again:
                    server.settle()
                    samples.again.append(server.post_again())
            say(
                f"round {number} of {plan.rounds}: bare {samples.bare[-1]:,.0f} ms, cached "
                f"{samples.cached[-1]:,.0f} ms, limit {samples.limit[-1]:,.0f} ms, ours "
                f"{samples.ours[-1].taken_ms:,.0f} ms"
            )
    say(f"the pool emptied, then a submission, {plan.cold} times")
    for _ in range(plan.cold):
        server.settle()
        forks = warm_forks(server.pid)
        # Take the largest, because generic forks hold less. A verifier that was lent before does not count as waiting.
        samples.fork_mb += [max(map(private_mb, waiting))] if (waiting := [*filter(waits_for_work, forks)]) else []
        kill_all(forks)
        samples.cold.append(server.post(workload.source).taken_ms)
    return samples


def _sustained(plan: Plan, workload: Workload, server: Server, say: Say) -> tuple[Rate, Rate]:
    cores = _cores()
    say(f"sustained: {plan.bare_a_core * cores} bare processes, {cores} at a time")
    server.settle()
    bare = run_many(workload, at_once=cores, count=plan.bare_a_core * cores)
    say(f"sustained: {plan.ours_a_core * cores} submissions by {2 * cores} clients")
    ours = server.post_many(workload.source, at_once=2 * cores, count=plan.ours_a_core * cores)
    return bare, ours


def _figures(samples: Samples, bare: Rate, ours: Rate) -> dict[str, float | None]:
    taken_ms = [graded.taken_ms for graded in samples.ours]
    ours_ms = statistics.median(taken_ms)
    return {
        "bare_ms_p50": statistics.median(samples.bare),
        "bare_cached_ms_p50": statistics.median(samples.cached),
        "limit_ms_p50": statistics.median(samples.limit),
        "ours_ms_p50": ours_ms,
        "ours_ms_p95": percentile(taken_ms, 95),
        "speedup": statistics.median(samples.bare) / ours_ms,
        "speedup_cached": statistics.median(samples.cached) / ours_ms,
        "throughput_ratio": ours.per_s / bare.per_s,
        "cpu_ratio": ours.cpu_s / bare.cpu_s,
        "cpu_s": ours.cpu_s,
        "warm_fork_private_mb": statistics.median(samples.fork_mb) if samples.fork_mb else None,
        "cold_ms_p50": statistics.median(samples.cold),
    }


def percentile(samples: list[float], percent: int) -> float:
    """Return the smallest sample that at least `percent` % of all samples do not exceed. It is never interpolated."""
    return sorted(samples)[-(-len(samples) * percent // 100) - 1]


def _cores() -> int:
    return len(os.sched_getaffinity(0))
