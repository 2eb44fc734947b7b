"""Run everything in parts, the part that ran longest ago first, and write down in `.ci/rotation.toml` when each ran.

`./meshgrade test --all` does this, so that it can be interrupted and continued. A test that fails there may be one of
older work. It is fixed by itself, or listed under its part with the last day on which it is only reported:

    [submissions-1]
    commit = "4f2a…"
    date = 2026-11-28
    failures = [{ test = "tests/grader/test_call_verdicts.py::…", until = 2026-12-05 }]
"""

import json
import os
import subprocess
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.failures import name_of
from tests.grader.shipped_submissions import SHARE
from tests.pytest_runs import Outcome, run
from tests.selection import EVERYTHING, git

CHECKOUT = Path(__file__).resolve().parents[1]
FILE = CHECKOUT / ".ci" / "rotation.toml"
_HEADER = "# When each part of `./meshgrade test --all` ran last, and what it found (tests/rotation.py).\n"
_SHARES = 4
_VERDICTS = ("tests/grader/test_program_verdicts.py", "tests/grader/test_call_verdicts.py")
_REPORTED = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Part:
    """Arguments of pytest, or a command of its own, and variables to add."""

    chosen: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] | None = None


def _without(*paths: str) -> tuple[str, ...]:
    return tuple(option for path in paths for option in ("--ignore", path))


_FOLDERS = ("app", "benchmarks", "browser", "docs", "grader", "hostile", "lessons", "problems")
_OF_THEIR_OWN = ("tests/gpu", "tests/tpu")
PARTS: dict[str, Part] = {
    **{
        f"submissions-{number}": Part(_VERDICTS, environment={SHARE: f"{number}/{_SHARES}"})
        for number in range(1, _SHARES + 1)
    },
    "app": Part(("tests/app",)),
    "benchmarks": Part(("tests/benchmarks",)),
    "browser": Part(("tests/browser",)),
    "docs": Part(("tests/docs",)),
    "grader": Part(("tests/grader", *_without(*_VERDICTS))),
    "hostile": Part(("tests/hostile",)),
    "lessons": Part(("tests/lessons",)),
    "problems": Part(("tests/problems",)),
    "others": Part(("tests", *_without(*(f"tests/{folder}" for folder in _FOLDERS), *_OF_THEIR_OWN))),
    "next-jax": Part(command=("./meshgrade", "test", "--next-jax", "--all")),
    "other-pythons": Part(command=(".venv/bin/python", "-m", "tests.other_pythons")),
    "gpu": Part(command=("./meshgrade", "test", "--gpu")),
    "tpu": Part(command=("./meshgrade", "test", "--tpu")),
}


def in_turn(records: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """All parts, the one that ran longest ago first, and before it those that never ran."""
    return sorted(PARTS, key=lambda name: (str(records.get(name, {}).get("date", "")), [*PARTS].index(name)))


def run_parts(number: int | None, options: Sequence[str]) -> Iterator[str]:
    """Run some parts, or all, and yield why they fail.

    Args:
      number: how many parts to run; None for all.
      options: options of pytest.
    """
    names = in_turn(read())[:number]
    for position, name in enumerate(names, start=1):
        print(f"== part {position} of {len(names)}: {name}", flush=True)
        part = PARTS[name]
        environment = {EVERYTHING: "1", **(part.environment or {})}
        if part.command:
            done = subprocess.run(part.command, cwd=CHECKOUT, check=False, env={**os.environ, **environment})
            outcome = Outcome(failed=[" ".join(part.command)] if done.returncode else [])
        else:
            outcome = run(name, options, part.chosen, environment)
        today = datetime.now(UTC).date()
        reported, refused = _divided(outcome, read().get(name, {}), today)
        for each in reported:
            print(f"Listed in .ci/rotation.toml, so it does not fail the run yet: {each}", flush=True)
        yield from (f"{name}: {each}" for each in refused)
        _record(name, reported, refused, today)
    print(f"Written to {FILE.relative_to(CHECKOUT)}. The next call begins with {in_turn(read())[0]}.", flush=True)


def _divided(outcome: Outcome, record: Mapping[str, Any], today: date) -> tuple[list[str], list[str]]:
    """Divide failures into those that are only reported, because they are listed and not late, and those that fail the
    run. In the rotation, an unstable test has failed, too.
    """
    listed = {each["test"] for each in record.get("failures", []) if each["until"] >= today}
    found = [*(name_of(test) for test in outcome.failed), *outcome.unstable]
    return [each for each in found if each in listed], [
        *(each for each in found if each not in listed),
        *outcome.faults,
    ]


def read() -> dict[str, dict[str, Any]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}


def _record(name: str, reported: list[str], refused: list[str], today: date) -> None:
    records = read()
    until = {each["test"]: each["until"] for each in records.get(name, {}).get("failures", [])}
    failures = [{"test": each, "until": until[each]} for each in reported]
    # What was listed and is late stays listed, with the day that it had.
    failures += [{"test": each, "until": until.get(each, today + _REPORTED)} for each in refused]
    records[name] = {"commit": git("rev-parse", "HEAD") or "", "date": today, "failures": failures}
    tables = [_table(part, records[part]) for part in PARTS if part in records]
    FILE.write_text("\n".join([_HEADER, *tables]), encoding="utf-8")


def _table(name: str, record: Mapping[str, Any]) -> str:
    failures = "".join(
        f"\n    {{ test = {json.dumps(each['test'])}, until = {each['until']} }}," for each in record["failures"]
    )
    return (
        f"[{name}]\ncommit = {json.dumps(record['commit'])}\ndate = {record['date']}\n"
        f"failures = [{failures}{chr(10) if failures else ''}]\n"
    )
