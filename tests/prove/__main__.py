"""Measure what has no receipt of today: `python -m tests.prove [NAME ...]`.

A name is a problem, a lesson or another unit, which is then measured in any case. Each receipt is written as soon as
its unit is measured, so a run that is interrupted continues where it was. The exit status is 1 if a unit cannot be
measured, or if a text says something else than was measured.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence

from tests.prove.checks import Measure, differences
from tests.prove.kind import Kind, Receipts
from tests.prove.kinds import KINDS
from tests.prove.measuring import Job, measure


def prove(
    kinds: Sequence[Kind],
    names: Sequence[str] = (),
    processes: int = 1,
    receipts: Receipts | None = None,
    measure: Measure = measure,
) -> int:
    """Write the receipts that are missing, or those of the names, and return the exit status."""
    receipts = receipts or Receipts()
    if unknown := set(names) - {unit for kind in kinds for unit in kind.units()}:
        print(f"Nothing is named {', '.join(sorted(unknown))}. These have receipts:", file=sys.stderr)
        for kind in kinds:
            print(f"  {kind.name}: {', '.join(kind.units())}", file=sys.stderr)
        return 2
    jobs = list(_jobs(kinds, names, receipts))
    began = time.monotonic()
    failed = _measure_all(jobs, processes, receipts, measure)
    if not names:
        for path in (path for kind in kinds for path in receipts.left_over(kind)):
            path.unlink()
    wrong = [line for kind in kinds for line in differences(kind, receipts)]
    print(f"Measured {len(jobs) - len(failed)} of {len(jobs)} in {time.monotonic() - began:.0f} s.")
    for line in wrong:
        print(line)
    if failed:
        print(f"Could not measure {', '.join(failed)}.")
    return 1 if wrong or failed else 0


def _jobs(kinds: Sequence[Kind], names: Sequence[str], receipts: Receipts) -> Iterator[Job]:
    for kind in kinds:
        for unit in kind.units():
            if unit in names or (not names and receipts.fault(kind, unit) is not None):
                yield kind, unit


def _measure_all(jobs: Sequence[Job], processes: int, receipts: Receipts, measure: Measure) -> list[str]:
    """Returns what could not be measured."""
    of = {(kind.name, unit): kind.of(unit) for kind, unit in jobs}
    failed = []
    for number, each in enumerate(measure(jobs, processes), 1):
        what = f"{each.kind.name}/{each.unit}"
        print(f"{number} of {len(jobs)}  {what}  {each.seconds:.1f} s{'  FAILED' if each.failure else ''}", flush=True)
        if each.failure:
            failed.append(what)
            print(each.failure, file=sys.stderr)
        else:
            receipts.write(each.kind, each.unit, of[each.kind.name, each.unit], each.result)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--kind", action="append", choices=[kind.name for kind in KINDS], help="only this kind")
    cores = os.cpu_count() or 1
    parser.add_argument("-j", type=int, default=cores, metavar="N", help=f"processes; here {cores} by default")
    given = parser.parse_args()
    return prove([kind for kind in KINDS if not given.kind or kind.name in given.kind], given.names, given.j)


if __name__ == "__main__":
    sys.exit(main())
