"""Run pytest, run what failed once more, and say what that means (tests/failures.py)."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.failures import (
    MERGES,
    MOST_AGAIN,
    ONLY,
    WRITE_TO,
    name_of,
    read_failures,
    unstable_before,
    unstable_faults,
)
from tests.folder_times import DURATIONS
from tests.selection import base
from tests.serial_tests import LEFT_OUT, ONLY_SERIAL

CHECKOUT = Path(__file__).resolve().parents[1]
# The order of the files, and the same random numbers in each run. Groups that take longest come first
# (tests/slow_tests.py), and not those with the most tests.
FIXED_ORDER = ("--randomly-seed=1", "--randomly-dont-reorganize", "--no-loadscope-reorder")
_DURATIONS = CHECKOUT / ".meshgrade" / "durations"
# What pytest ends with if it ran tests. A run without any, as of a misspelt `-k`, has proved nothing.
_RAN = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)


@dataclass
class Outcome:
    """What runs of pytest found.

    Args:
      failed: the tests that failed twice, or that could not run again.
      unstable: what both runs said of each test that failed at first and passed alone.
      faults: what else failed, such as a file that cannot be collected.
    """

    failed: list[str] = field(default_factory=list)
    unstable: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def add(self, other: "Outcome") -> None:
        self.failed += other.failed
        self.unstable |= other.unstable
        self.faults += other.faults


def run(
    name: str, options: Sequence[str], chosen: Sequence[str], environment: Mapping[str, str] | None = None
) -> Outcome:
    """Run tests, then those marked `serial` alone. What fails runs once more, alone and one after the other.

    Args:
      name: the name of the run, for the log.
      options: options of pytest for the first time only, such as `-n 2`.
      chosen: the tests, as arguments of pytest.
      environment: variables to add.
    """
    variables = environment or {}
    with tempfile.TemporaryDirectory() as folder:
        left_out = Path(folder) / "serial"
        status, found = _pytest(name, [*options, *chosen], {**variables, LEFT_OUT: str(left_out)})
        if not left_out.exists():
            return _judged(name, status, found, chosen, variables)
        outcome = Outcome()
        # All that was chosen may be serial.
        if status != pytest.ExitCode.NO_TESTS_COLLECTED:
            outcome.add(_judged(name, status, found, chosen, variables))
        variables = {**variables, ONLY_SERIAL: str(left_out)}
        status, found = _pytest(f"serial {name}", [*options, *chosen, "-n", "0"], variables)
        outcome.add(_judged(f"serial {name}", status, found, chosen, variables))
    return outcome


def _judged(
    name: str, status: int, found: dict[str, Any], chosen: Sequence[str], environment: Mapping[str, str]
) -> Outcome:
    """Return what a run of pytest found, after running the failed tests a second time."""
    failures: dict[str, str] = found["failures"]
    if status not in _RAN or not found["complete"]:
        return Outcome(failed=[*failures], faults=[f"{name}: pytest ended with status {status}."])
    if found["not_collected"]:
        return Outcome(failed=[*failures], faults=[f"{name}: not collected: {each}" for each in found["not_collected"]])
    if not failures:
        return Outcome(
            faults=[f"{name}: pytest failed, but no test did."] if status == pytest.ExitCode.TESTS_FAILED else []
        )
    if len(failures) > MOST_AGAIN:
        return Outcome(
            failed=[*failures],
            faults=[f"{name}: {len(failures)} tests failed. More than {MOST_AGAIN} do not run again alone."],
        )
    return _again(name, failures, chosen, environment)


def _again(name: str, failures: dict[str, str], chosen: Sequence[str], environment: Mapping[str, str]) -> Outcome:
    """Collect the same tests, so that the failed ones find the same fixtures, and run only these."""
    print(f"== {name}: {len(failures)} failed and run again, alone", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        only = Path(folder) / "only.json"
        only.write_text(json.dumps({"failures": [*failures]}), encoding="utf-8")
        status, found = _pytest(
            f"{name}, again", ["-n", "0", *FIXED_ORDER, "-v", *chosen], {**environment, ONLY: str(only)}
        )
    failed_again = {name_of(test): told for test, told in found["failures"].items()}
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or not found["complete"]:
        return Outcome(failed=[*failures], faults=[f"{name}: the failed tests could not run again (status {status})."])
    outcome = Outcome(failed=sorted(failed_again))
    for test, told in failures.items():
        if name_of(test) not in failed_again:
            outcome.unstable[name_of(test)] = f"At first:\n{told}\nAlone, it passed."
    return outcome


def _pytest(name: str, arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
    print(f"== {name}", flush=True)
    started = time.monotonic()
    _DURATIONS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "failures.json"
        variables = {WRITE_TO: str(file), DURATIONS: str(_DURATIONS / f"{name.replace(' ', '-')}.txt")}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=CHECKOUT,
            check=False,
            env={**os.environ, **variables, **environment},
        )
        found = read_failures(file)
    outcome = "passed" if done.returncode == pytest.ExitCode.OK else "FAILED"
    print(f"== {name}: {outcome} in {time.monotonic() - started:.0f} s", flush=True)
    return done.returncode, found


def faults_of(outcome: Outcome) -> list[str]:
    """Print what failed and what was unstable, and return why the run fails; nothing if it passes."""
    for test, told in outcome.unstable.items():
        print(f"== unstable: {test}\n{told}", flush=True)
    if outcome.unstable:
        print(_to_write_down(outcome.unstable), flush=True)
    return [
        *(f"{name_of(test)} failed." for test in outcome.failed),
        *outcome.faults,
        *unstable_faults(outcome.unstable, unstable_before()),
    ]


def _to_write_down(unstable: Collection[str]) -> str:
    tests = "".join(f"    {json.dumps(test)},\n" for test in sorted(unstable))
    return (
        f"{len(unstable)} unstable. Make each give one answer, or add this to tests/unstable.toml. A test that is "
        f"unstable again within {MERGES} merges fails its run.\n"
        f"[[merge]]\nbase = {json.dumps(base() or '')}\ntests = [\n{tests}]"
    )
