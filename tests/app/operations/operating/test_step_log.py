"""Each step of an attempt is one log line, written by the process that took the step."""

import json
import logging

import pytest

from app.core.database import Database
from app.core.settings import Settings
from app.grading.queue.events import Change
from app.grading.queue.shared_events import SharedEvents
from app.operations.operating.step_log import step_log

pytestmark = pytest.mark.anyio


def steps(caplog) -> list[tuple[str, str | None, str]]:
    found = [record for record in caplog.records if record.name == "app.operations.operating.step_log"]
    return [(record.state, record.phase, record.worker) for record in found]


async def test_what_another_process_did_is_told_here_and_logged_there(caplog):
    caplog.set_level(logging.INFO)
    events = SharedEvents(Database("postgresql://nobody@127.0.0.1:1/none"))
    events.watch_here(step_log("grader-1:7"))
    with events.subscribe("a", "ada") as changes:
        events.publish("a", Change("running", "starting"))
        elsewhere = {"from": "another", "id": "a", "status": "finished", "phase": None}
        events._receive(json.dumps(elsewhere))
        assert [(await changes.next(60)).status for _ in range(2)] == ["running", "finished"]
    assert steps(caplog) == [("running", "starting", "grader-1:7")]


async def test_an_attempt_leaves_one_line_for_each_step(start_service, package, caplog):
    caplog.set_level(logging.INFO)
    async with start_service(worker_name="the-only-one") as service:
        body = {"source": package.reference}
        await service.http.post("/api/v1/problems/add_one/attempts?wait=60", json=body, headers=service.bearer)
    found = steps(caplog)
    assert [found[0][:2], found[1][:2], found[-1][:2]] == [
        ("queued", None),
        ("running", "starting"),
        ("finished", None),
    ]
    assert len(set(found)) == len(found)
    assert {worker for _, _, worker in found} == {"the-only-one"}


def test_a_worker_is_named_after_its_host_and_process():
    assert Settings().worker_name.rpartition(":")[2].isdecimal()
