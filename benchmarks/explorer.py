"""Time the Explorer from the POST of a source to its first program and its result, and again when that is stored."""

import statistics
import tempfile
from pathlib import Path

from benchmarks.measure import Measured, percentile
from benchmarks.server import Say, Server
from benchmarks.workload import PROGRAM_SLUG, copy_package

_ROUNDS = 15


def measure_explore(say: Say, *, quick: bool) -> Measured:
    """Measure the Explorer. Raises `BenchmarkFailed` if the service does not start, or a source has no program."""
    rounds = 1 if quick else _ROUNDS
    with tempfile.TemporaryDirectory(prefix="meshgrade-bench-") as made:
        folder = Path(made)
        package = copy_package(PROGRAM_SLUG, folder / "problems")
        say("starting the service; it makes the cases and runs the reference")
        with Server(folder / "data", folder / "problems", f"{package.slug}/attempts", say) as server:
            first, ours, again, known = [], [], [], []
            for number in range(rounds):
                server.settle()
                # Other lines make another program. What follows its last line makes only another source.
                source = "\n" * (number + 1) + package.reference
                explored = server.explore(package.slug, source)
                first.append(explored.first_ms)
                ours.append(explored.taken_ms)
                again.append(server.explore(package.slug, source).taken_ms)
                server.settle()
                known.append(server.explore(package.slug, f"{source}\n# {number}\n").taken_ms)
                say(
                    f"round {number + 1} of {rounds}: first {first[-1]:,.0f} ms, all {ours[-1]:,.0f} ms, again "
                    f"{again[-1]:,.0f} ms, known programs {known[-1]:,.0f} ms"
                )
    figures: dict[str, float | None] = {
        "explore.first_ms_p50": round(statistics.median(first), 3),
        "explore.ours_ms_p50": round(statistics.median(ours), 3),
        "explore.ours_ms_p95": round(percentile(ours, 95), 3),
        "explore.again_ms_p50": round(statistics.median(again), 3),
        "explore.known_ms_p50": round(statistics.median(known), 3),
    }
    return Measured(figures, f"{package.slug}/reference", {"ours": rounds})
