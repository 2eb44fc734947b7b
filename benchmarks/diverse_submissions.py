"""Grade different submissions: every shipped accepted one and some rejected ones, each once, on an idle service.

The other parts submit the same submission again and again. Here, no two compile to the same programs.
Usage: python -m benchmarks.diverse_submissions [--of NUMBER] [--seed NUMBER] --json FILE; or ./meshgrade bench --only
diverse
"""

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.errors import BenchmarkFailed
from benchmarks.machine import describe_machine
from benchmarks.measure import Measured, Say, percentile
from benchmarks.plain_processes import run_fresh
from benchmarks.server import Server
from benchmarks.workload import CHECKOUT, copy_package, take_workload
from grader.core.errors import MeshgradeError
from grader.package.package import KnownSubmission, Package
from grader.review.reader import read_package

# A problem in call mode, one with a state and one without, of which one rejected submission per reason is graded.
REJECTED_OF = ("fsdp_step", "fsdp_shard_map_step", "tp_column_row")
_START_LIMIT_S = 1800.0
SEED = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """`of` is how many submissions are drawn, and `bare` how many of these also run without the service.

    `hidden` is False for a plan that only shows that everything works: it runs public cases without checking the
    verdicts, and leaves out most wrong submissions, so that the service starts sooner.
    """

    slugs: tuple[str, ...] | None
    of: int | None
    bare: int
    hidden: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """One submission of a problem."""

    package: Package
    submission: KnownSubmission

    @property
    def name(self) -> str:
        return f"{self.package.slug}/{self.submission.name}"


FULL = Plan(slugs=None, of=None, bare=20)
QUICK = Plan(slugs=("fsdp_step",), of=2, bare=1, hidden=False)


def measure_diverse(say: Say, *, quick: bool) -> Measured:
    """Measure different submissions. Raises `BenchmarkFailed` if a verdict is not the one that the path names."""
    return measure_plan(QUICK if quick else FULL, say, seed=SEED)


def measure_plan(plan: Plan, say: Say, *, seed: int, data: Path | None = None) -> Measured:
    """Measure a plan. `data` is a data folder to keep, or one kept earlier, so that nothing is prepared again."""
    with tempfile.TemporaryDirectory(prefix="meshgrade-bench-") as made:
        folder = Path(made)
        data = data or folder / "data"
        packages = copy_packages(plan, folder / "problems")
        chosen = choose(packages, plan.of, seed)
        say(f"starting the service with {len(packages)} problems; it makes the cases and runs references and mistakes")
        kind = "attempts" if plan.hidden else "runs"
        server = Server(data, folder / "problems", f"{packages[0].slug}/{kind}", say, start_limit_s=_START_LIMIT_S)
        with server:
            if not server.wait_for("problems are prepared", say).startswith("All"):
                # A start prepares some problems, and opening its page prepares any other.
                for package in packages:
                    server.open(package.slug)
                server.wait_for("All problems are prepared.", say)
            server.settle()
            one = _grade_all(server, chosen, 1, random.Random(seed), say, hidden=plan.hidden)
            _say_by_problem(one, say)
            server.settle()
            two = _grade_all(server, chosen, 2, random.Random(seed + 1), say, hidden=plan.hidden)
            server.settle()
            bare = _run_bare(chosen, plan, folder, data, say)
    both = [*one.values(), *two.values()]
    figures: dict[str, float | None] = {
        "ours_ms_p50": statistics.median(both),
        "ours_ms_p95": percentile(both, 95),
        "one_ms_p50": statistics.median(one.values()),
        "one_ms_p95": percentile([*one.values()], 95),
        "two_ms_p50": statistics.median(two.values()),
        "two_ms_p95": percentile([*two.values()], 95),
        "bare_ms_p50": statistics.median(bare.values()) if bare else None,
        "speedup": statistics.median(bare.values()) / statistics.median(one[name] for name in bare) if bare else None,
    }
    return Measured(
        {f"diverse.{key}": None if value is None else round(float(value), 3) for key, value in figures.items()},
        f"{len(chosen)} submissions of {len(packages)} problems",
        {"submissions": len(chosen), "bare": len(bare), "seed": seed},
    )


def copy_packages(plan: Plan, problems: Path) -> list[Package]:
    """Copy the shipped problems that the plan names, or all of them, to `problems`."""
    names = plan.slugs or sorted(path.parent.name for path in (CHECKOUT / "problems").glob("*/problem.toml"))
    if not plan.hidden:
        return [copy_package(name, problems) for name in names]
    for name in names:
        shutil.copytree(CHECKOUT / "problems" / name, problems / name, ignore=shutil.ignore_patterns("__pycache__"))
    return [read_package(problems / name) for name in names]


def choose(packages: Sequence[Package], of: int | None, seed: int) -> list[Entry]:
    """Return all accepted submissions and, for three problems, the first rejected one per reason; or `of` of these."""
    found = [Entry(package, each) for package in packages for each in package.accepted]
    for package in packages:
        if package.slug in REJECTED_OF:
            first = {each.reason: each for each in reversed(package.rejected)}
            found += [Entry(package, first[reason]) for reason in sorted(first, key=str)]
    return found if of is None else random.Random(seed).sample(found, min(of, len(found)))


def _grade_all(
    server: Server, entries: Sequence[Entry], at_once: int, order: random.Random, say: Say, *, hidden: bool
) -> dict[str, float]:
    """Grade all entries, and return the milliseconds from POST to verdict by name."""
    shuffled = order.sample(entries, len(entries))
    say(f"{len(entries)} submissions, {at_once} at a time")
    with ThreadPoolExecutor(at_once) as clients:
        taken = {}
        for each, taken_ms in zip(shuffled, clients.map(partial(_grade, server, hidden=hidden), shuffled), strict=True):
            say(f"{taken_ms:7,.0f} ms  {each.name}")
            taken[each.name] = taken_ms
        return taken


def _say_by_problem(taken: Mapping[str, float], say: Say) -> None:
    by_problem: dict[str, list[float]] = {}
    for name, taken_ms in taken.items():
        by_problem.setdefault(name.partition("/")[0], []).append(taken_ms)
    for slug, each in sorted(by_problem.items()):
        say(f"{statistics.median(each):7,.0f} ms  {slug}, median of {len(each)}; slowest {max(each):,.0f} ms")


def _grade(server: Server, entry: Entry, *, hidden: bool) -> float:
    kind = "attempts" if hidden else "runs"
    taken_ms, verdict = server.grade(f"{entry.package.slug}/{kind}", entry.submission.source)
    wanted = "accepted" if entry.submission.reason is None else "rejected"
    # Some submissions are wrong only on hidden cases.
    if hidden and (verdict.get("status"), verdict.get("reason")) != (wanted, entry.submission.reason):
        raise BenchmarkFailed(f"{entry.name} must be {wanted} and was answered with {json.dumps(verdict)[:1500]}")
    return taken_ms


def _run_bare(entries: Sequence[Entry], plan: Plan, folder: Path, data: Path, say: Say) -> dict[str, float]:
    """Run a sample of the accepted submissions, each in a fresh Python, one at a time. A rejected one might not end."""
    plain = [each for each in entries if each.submission.reason is None and _is_plain(each.package)]
    sample = random.Random(SEED).sample(plain, min(plan.bare, len(plain)))
    say(f"{len(sample)} of them bare, in a fresh Python each")
    taken = {}
    for number, each in enumerate(sample):
        workload = take_workload(each.package, each.submission, data, folder / f"bare-{number}", hidden=plan.hidden)
        taken[each.name] = run_fresh(workload).wall_ms
    return taken


def _is_plain(package: Package) -> bool:
    """Whether benchmarks/bare_calls.py can run the problem, which needs a call-mode entry point or an `init`."""
    manifest = package.manifest
    return manifest.mode != "program" or manifest.program.init is not None


def main() -> None:
    parser = argparse.ArgumentParser(description="Grade different submissions, each once.")
    parser.add_argument("--of", type=int, help="a sample of so many, instead of all")
    parser.add_argument("--bare", type=int, default=FULL.bare, help="so many of them without the service as well")
    parser.add_argument("--problems", nargs="*", help="of these problems alone")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--data", type=Path, help="keep the data folder here, or take the one that is here")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    plan = Plan(tuple(given.problems) if given.problems else None, given.of, given.bare)
    measured = measure_plan(
        plan, lambda phase: print(phase, file=sys.stderr, flush=True), seed=given.seed, data=given.data
    )
    results = measured.figures | {
        "machine": describe_machine(),
        "submissions": {"diverse": measured.submission},
        "repetitions": {"diverse": measured.repetitions},
    }
    text = json.dumps(results, indent=2)
    print(text)
    if given.json:
        given.json.write_text(text)


if __name__ == "__main__":
    try:
        main()
    except MeshgradeError as error:
        sys.exit(f"Error: {error}")
