"""Grade the same submissions again and again, and report every verdict that differs from the first one."""

import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from benchmarks.mixture import Known, honest
from grader.core.context import Context
from grader.judging.judge import Judge
from grader.verdicts.verdict import Verdict

Say = Callable[[str], None]


def differing(judge: Judge, count: int, outcomes: Sequence[str], say: Say) -> tuple[list[str], dict[str, object]]:
    """Grade one submission of each of `outcomes` `count` times on a quiet machine and `count` times beside a busy loop.

    Returns:
      one line for each verdict that differs from the first of its submission, and the figures.
    """
    chosen = [known for known in one_of_each() if known.expectation() in outcomes]
    judge.prepare(chosen[0].package, Context(say))
    faults: list[str] = []
    first: dict[str, str] = {}
    for where in ("quiet", "busy"):
        with _busy_core() if where == "busy" else _quiet():
            for number in range(1, count + 1):
                for known in chosen:
                    told = told_to_student(judge.judge(known.package, known.source))
                    if first.setdefault(known.name, told) != told:
                        faults.append(f"{known.name}, {where}, time {number}: {told} instead of {first[known.name]}")
                if number % 20 == 0 or number == count:
                    say(f"{where}: {number} of {count} times {len(chosen)} submissions, {len(faults)} verdicts differ")
    return faults, {"same": {"times": count, "submissions": [known.name for known in chosen], "different": len(faults)}}


def one_of_each() -> list[Known]:
    """Return the problem's first submission for each outcome."""
    first: dict[str, Known] = {}
    for known in honest():
        first.setdefault(known.expectation(), known)
    return list(first.values())


def told_to_student(verdict: Verdict) -> str:
    """Return a verdict as JSON, without its times."""
    return json.dumps(verdict.model_dump(mode="json", exclude={"timings_ms"}), sort_keys=True)


@contextmanager
def _busy_core() -> Iterator[None]:
    """Keep one core busy with a process that computes until the block ends."""
    process = multiprocessing.get_context("spawn").Process(target=_spin, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


@contextmanager
def _quiet() -> Iterator[None]:
    yield


def _spin() -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    parent = os.getppid()
    # If the parent is killed, it cannot end this process.
    while os.getppid() == parent:
        pass
