"""Readers and programs see what a start prepares. A preparation that failed is tried again."""

import asyncio
import itertools
import math
import threading

import anyio
import pytest

from app.grading.queue import preparation
from app.grading.queue.null_grader import NullGrader
from grader.core.context import QUIET, Context
from grader.core.errors import GraderFault
from grader.package.package import Package
from grader.sandbox import retry_backoff
from tests.app.accounts.people import sign_in
from tests.app.conftest import METRICS_TOKEN

METRICS = {"Authorization": f"Bearer {METRICS_TOKEN}"}
pytestmark = pytest.mark.anyio


class Slow(NullGrader):
    """Prepares nothing before the test lets it, and fails as often as the test says."""

    def __init__(self, failures: int = 0) -> None:
        self.go = threading.Event()
        self.failures = failures

    def prepare(self, package: Package, context: Context = QUIET, *, background: bool = False) -> None:
        context.progress("running the reference")
        assert self.go.wait(60)
        if self.failures:
            self.failures -= 1
            self.setbacks.failed(package.version, "add_one: reference.py failed: time_limit")
            raise GraderFault("add_one: reference.py failed: time_limit")
        self.setbacks.succeeded(package.version)


async def page_with(service, path: str, text: str) -> str:
    page = ""
    with anyio.move_on_after(60):
        while text not in page:
            answer = await service.http.get(path, headers=METRICS if path == "/metrics" else {})
            page = " ".join(answer.text.split())
            await asyncio.sleep(0.01)
        return page
    raise AssertionError(f"{path} does not say {text!r}: {page}")


async def page_without(service, path: str, text: str) -> None:
    with anyio.move_on_after(60):
        while text in " ".join((await service.http.get(path)).text.split()):
            await asyncio.sleep(0.01)
        return
    raise AssertionError(f"{path} still says {text!r}")


async def test_a_reader_is_told_what_is_being_prepared(start_service):
    grader = Slow()
    async with start_service(grader) as service:
        page = await page_with(service, "/problems", "now preparing")
        assert "0 of 1 problems are ready." in page
        assert "(running the reference)" in page
        await page_with(service, "/problems/add_one", "is preparing this problem (running the reference)")
        grader.go.set()
        await page_without(service, "/problems", "has just started")
        await page_without(service, "/problems/add_one", "has just started")


async def test_a_problem_that_the_start_left_out_is_prepared_when_somebody_opens_it(start_service, monkeypatch):
    spent = itertools.chain([0.0], itertools.repeat(math.inf))
    monkeypatch.setattr(preparation, "cpu_s_below", lambda root: next(spent))
    grader = Slow()
    async with start_service(grader) as service:
        await sign_in(service)
        await page_with(service, "/service", "1 problem is prepared when first needed.")
        await page_with(service, "/metrics", "meshgrade_problems_unprepared 0.0")
        assert "preparing this problem" not in await page_with(service, "/problems/add_one", "add_one")
        await page_with(service, "/metrics", "meshgrade_problems_unprepared 1.0")
        grader.go.set()
        await page_with(service, "/metrics", "meshgrade_problems_unprepared 0.0")
        assert "when first needed" not in await page_with(service, "/service", "Walls")


async def test_a_reference_that_failed_is_tried_again_and_told(start_service, monkeypatch):
    monkeypatch.setattr(retry_backoff, "_FIRST_PAUSE_S", 3600.0)
    grader = Slow(failures=2)
    grader.go.set()
    async with start_service(grader) as service:
        await page_with(service, "/problems/add_one", "could not prepare this problem and tries again")
        await page_with(service, "/problems", "could not prepare")
        metrics = await page_with(service, "/metrics", 'meshgrade_setbacks{name="add_one",what="reference",worker="')
        assert "meshgrade_problems_unprepared 1.0" in metrics
        assert grader.failures == 1
    monkeypatch.setattr(retry_backoff, "_FIRST_PAUSE_S", 0.01)
    async with start_service(grader) as service:
        metrics = await page_with(service, "/metrics", "meshgrade_problems_unprepared 0.0")
        assert "what=" not in metrics
        assert grader.failures == 0
