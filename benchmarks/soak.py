"""Grade many submissions in a row: nothing may be left behind, and equal submissions must get equal verdicts.

Usage: python -m benchmarks.soak [COUNT] [--json FILE]     honest and hostile ones mixed; 1,000 by default
       python -m benchmarks.soak --same COUNT [--of OUTCOME ...]
                                                           the same submissions, first quiet, then beside a busy loop

Exit status: 0 success, 1 something was left behind, grew or differs, or the soak failed.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from benchmarks.census import Census, take_census
from benchmarks.machine import describe_machine
from benchmarks.mixture import Known, mixed
from benchmarks.processes import wait_until_quiet
from benchmarks.verdict_stability import differing, one_of_each
from grader.core.errors import MeshgradeError
from grader.judging.judge import Judge
from grader.sandbox.build import build_sandbox

_BATCH = 100
_GROWTH = 1.05
_SECRET = b"a secret of the soak, 32 bytes.."


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=1000, help="how many submissions (default: 1,000)")
    parser.add_argument(
        "--same", type=int, metavar="COUNT", help="instead, grade the same submissions COUNT times each"
    )
    outcomes = [known.expectation() for known in one_of_each()]
    parser.add_argument(
        "--of", nargs="+", metavar="OUTCOME", choices=outcomes, help=f"with --same, of {', '.join(outcomes)}; else all"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, for benchmarks.write_table")
    options = parser.parse_args()
    with _private_temporary_folder() as folder, build_sandbox(folder / "cache") as sandbox:
        judge = Judge(sandbox, _SECRET, folder / "cache")
        if options.same:
            faults, figures = differing(judge, options.same, options.of or outcomes, _say)
        else:
            faults, figures = soak(judge, options.count, folder)
    if options.json:
        figures = {**figures, "faults": faults, "machine": describe_machine()}
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    for fault in faults:
        print(f"FAULT: {fault}")
    print("Not well." if faults else "All is well.")
    return 1 if faults else 0


def soak(judge: Judge, count: int, folder: Path) -> tuple[list[str], dict[str, object]]:
    """Grade `count` submissions and count resources after each hundred. Returns the faults and the figures."""
    faults: list[str] = []
    rows: list[dict[str, object]] = []
    submissions = list(mixed(count))
    _prepare(judge, submissions)
    first = last = _at_rest(folder)
    _print_row(0, 0.0, first)
    started = time.monotonic()
    for number, known in enumerate(submissions, 1):
        verdict = judge.judge(known.package, known.source)
        if not known.fits(verdict):
            told = f"{verdict.status}/{verdict.reason}, expected {known.expectation()}"
            faults.append(f"submission {number}, {known.name}: {told}")
        if number % _BATCH == 0 or number == count:
            last = _at_rest(folder)
            # The first hundred may create things that stay: imported modules, caches, a full pool.
            first = last if number <= _BATCH else first
            seconds = time.monotonic() - started
            rows.append({"submissions": number, "seconds": round(seconds, 1), **asdict(last)})
            _print_row(number, seconds, last)
    faults += last.left_since(first)
    growth = last.resident_mb / first.resident_mb
    if growth >= _GROWTH:
        faults.append(f"resident memory grew from {first.resident_mb:.1f} to {last.resident_mb:.1f} MiB")
    different = len({known.name for known in submissions})
    return faults, {"soak": rows, "growth_percent": round((growth - 1) * 100, 2), "different": different}


def _prepare(judge: Judge, submissions: list[Known]) -> None:
    for package in {known.package.version: known.package for known in submissions}.values():
        _say(f"preparing {package.slug}")
        judge.prepare(package)


def _at_rest(folder: Path) -> Census:
    wait_until_quiet(os.getpid())
    return take_census(folder / "scratch")


def _print_row(number: int, seconds: float, census: Census) -> None:
    counted = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in asdict(census).items())
    print(f"{number:5d} submissions, {seconds:6.0f} s: {counted}", flush=True)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def _private_temporary_folder() -> Iterator[Path]:
    """A folder with `cache` and `scratch` in it. All temporary files of this process go to `scratch`, to be counted."""
    with tempfile.TemporaryDirectory(prefix="meshgrade-soak-") as made:
        folder = Path(made)
        for name in ("cache", "scratch"):
            (folder / name).mkdir()
        previous, tempfile.tempdir = tempfile.tempdir, str(folder / "scratch")
        try:
            yield folder
        finally:
            tempfile.tempdir = previous


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MeshgradeError as error:
        sys.exit(f"Error: {error}")
