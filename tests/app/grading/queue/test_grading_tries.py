"""Each try to grade an attempt is stored with it: by which worker, through which phases, and how it ended."""

from datetime import UTC, datetime, timedelta

import pytest

from app.grading.queue import grading_tries
from app.grading.queue.attempt_grading import _Phases
from app.grading.queue.events import WorkEvents
from app.grading.queue.grading_tries import GradingProcess, Phase, begin, conclude, tries_of

AT = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
BY = GradingProcess("grader-2", "0123456789abcdef jax 0.0.0")
LATER = AT + timedelta(seconds=2)


def test_a_try_begins_and_ends():
    stored = begin(None, AT, BY)
    [running] = tries_of(stored)
    assert (running.worker, running.code) == ("grader-2", "0123456789abcdef jax 0.0.0")
    assert (running.started_at, running.ended_at, running.end, running.phases) == (AT, None, None, ())
    stored = conclude(stored, LATER, "failed", [(0, "starting"), (12, "case 1 of 2")], "no room\0 on the disk")
    [ended] = tries_of(stored)
    assert (ended.ended_at, ended.end, ended.message) == (LATER, "failed", "no room\ufffd on the disk")
    assert ended.phases == (Phase(after_ms=0, phase="starting"), Phase(after_ms=12, phase="case 1 of 2"))
    again = tries_of(conclude(begin(stored, LATER, BY), LATER, "finished"))
    assert [each.end for each in again] == ["failed", "finished"]


def test_an_attempt_from_before_has_none():
    assert tries_of(None) == tries_of(conclude(None, AT, "died")) == []


def test_what_is_stored_is_bounded():
    stored = None
    for number in range(grading_tries._MOST_TRIES + 5):
        stored = conclude(begin(stored, AT + timedelta(seconds=number), BY), LATER, "stopped", message="x" * 1000)
    tries = tries_of(stored)
    assert len(tries) == grading_tries._MOST_TRIES
    assert tries[-1].started_at == AT + timedelta(seconds=number)
    assert len(tries[0].message) == 500


@pytest.mark.anyio
async def test_of_very_many_phases_the_first_and_the_last_stay():
    phases = _Phases(WorkEvents(), "a" * 32)
    for number in range(300):
        phases._take(f"case {number}")
        phases._take(f"case {number}")
    assert len(phases.seen) == grading_tries.MOST_PHASES
    assert [phases.seen[0][1], phases.seen[1][1], phases.seen[-1][1]] == ["starting", "case 201", "case 299"]
    assert [after_ms for after_ms, _ in phases.seen] == sorted(after_ms for after_ms, _ in phases.seen)
