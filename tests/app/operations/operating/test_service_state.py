"""What owners see of the service, and what is named as unhealthy."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import update

from app.core.clock import now
from app.core.database import Database
from app.grading.queue.fair_share import kinds_of_work
from app.grading.queue.local_judge import LocalJudge
from app.grading.queue.models import AttemptRow
from app.grading.queue.workers import Workers
from app.operations.operating.attempt_statistics import Line, Waiting
from grader.sandbox.pool import PoolStats
from grader.sandbox.retry_backoff import Setback
from tests.app.accounts.people import browser, sign_in, sign_up
from tests.app.grading.attempts.test_submit import ATTEMPTS
from tests.app.grading.queue.taking import HERE

pytestmark = pytest.mark.anyio
PAGE = {"Accept": "text/html"}


async def test_a_healthy_service_says_so_to_owners_alone(service):
    await sign_in(service)
    page = (await service.http.get("/service", headers=PAGE)).text
    for words in ("Everything is healthy.", "The queue is empty.", "Nothing is being graded.", "namespaces"):
        assert words in page
    async with browser(service) as tess:
        await sign_up(service, tess, "tess", "instructor")
        assert (await tess.get("/service")).status_code == 403
        assert 'href="/service"' not in (await tess.get("/account")).text


async def test_what_is_unhealthy_comes_with_a_remedy(start_service, monkeypatch):
    async with start_service(wall_up=False, public_url=None, host="0.0.0.0") as service:
        service.http.headers["Host"] = "127.0.0.1"
        await sign_in(service)
        page = (await service.http.get("/service", headers=PAGE)).text
        for words in ("The wall namespaces is missing", "apt-get install bubblewrap", "Set MESHGRADE_PUBLIC_URL"):
            assert words in page
        assert "Everything is healthy." not in page
        usage = type("Usage", (), {"free": 5 << 20})
        monkeypatch.setattr("app.operations.operating.service_state.shutil.disk_usage", lambda folder: usage)
        assert "has 5 MiB left" in (await service.http.get("/service", headers=PAGE)).text


async def test_attempts_that_failed_or_wait_long_are_named(service):
    await sign_in(service)
    attempts = [
        (await service.http.post(f"{ATTEMPTS}?wait=60", json={"source": "x"}, headers=service.bearer)).json()["id"]
        for _ in range(2)
    ]
    async with service.services[Database].writing() as session:
        failed, old = (update(AttemptRow).where(AttemptRow.id == each) for each in attempts)
        await session.execute(failed.values(verdict_status="failed"))
        # Far from its turn, so that nothing takes it during the test.
        moment = {"created_at": now() - timedelta(minutes=20), "not_before": now() + timedelta(hours=1)}
        await session.execute(old.values(status="queued", finished_at=None, **moment))
    page = (await service.http.get("/service", headers=PAGE)).text
    assert "The grader failed at 1 attempt within the last hour." in page
    assert "Work has waited for 20 minutes, and nothing is being graded." in page


async def test_every_kind_of_work_has_a_line_in_the_order_of_turns(service, monkeypatch):
    kinds = kinds_of_work()
    assert len({each.name for each in kinds}) == len({each.plural for each in kinds}) == len(kinds)

    async def waiting(database):
        return Waiting({each.name: Line(1, 0.0) for each in reversed(kinds)}, 0)

    monkeypatch.setattr("app.operations.operating.service_state.waiting", waiting)
    await sign_in(service)
    page = (await service.http.get("/service", headers=PAGE)).text
    queue = page[page.index('aria-label="Queue"') : page.index('aria-labelledby="workers"')]
    shown = re.findall(r'<th scope="row">(.*?)</th>', queue)
    assert shown == [each.plural.replace("'", "&#39;") for each in kinds]
    assert {"Runs", "Attempts", "Explorations", "Validations", "Rejudges"} < set(shown)
    assert sorted(each.turn for each in kinds) == [each.turn for each in kinds]


async def test_a_setback_and_a_pool_that_stopped_are_named(service, monkeypatch):
    await sign_in(service)
    monkeypatch.setattr(service.services[Workers]._own, "by", HERE)
    setback = Setback("fsdp_step", 2, "warmup.py raised <b>", 15.0)
    stats = {"generic": 1, "warm": {"a" * 64: 2}, "zygotes": 1, "pids": (), "root": None, "misses": 0}
    stopped = PoolStats(alive=False, setbacks=(setback,), **stats)
    service.services.add(LocalJudge(pool_stats=lambda: stopped))
    monkeypatch.setattr(service.services[Workers]._own, "pool_stats", lambda: stopped)
    page = (await service.http.get("/service", headers=PAGE)).text
    assert "The pool of runners has stopped." in page
    assert "The warm-up of fsdp_step failed 2 times on here: warmup.py raised &lt;b&gt;" in page
    assert "1 runner is ready for any problem" in page
    assert "aaaaaaaaaaaa: 2" in page
