"""Before anything is sent, the page says how long a verdict takes and what a submission may use."""

import pytest

from app.learning.workbench.limits_text import expect_text
from grader.package.package import Limits

pytestmark = pytest.mark.anyio


def test_without_a_verdict_only_the_limits_are_known():
    limits = Limits(time_s=30.0, memory_mb=2048)
    assert expect_text(limits, None) == "Your code may use at most 30 s of CPU time and 2 GB of memory."


def test_the_usual_time_comes_first():
    text = expect_text(Limits(time_s=300.0, memory_mb=512), 3.4)
    assert text == "A verdict takes about 3 s. Your code may use at most 5 min of CPU time and 512 MB of memory."
    assert expect_text(Limits(), 0.02).startswith("A verdict takes about 1 s. ")


async def test_the_page_says_it(service, package):
    await service.http.post(
        "/api/v1/problems/add_one/attempts?wait=10", json={"source": package.reference}, headers=service.bearer
    )
    answer = await service.http.get("/problems/add_one", headers=service.bearer | {"Accept": "text/html"})
    assert expect_text(package.manifest.limits, 0.01) in answer.text
