"""Before anything is sent, the page says how long a verdict takes and what a submission may use."""

import pytest

from app.grading.attempts.durations import Typical
from app.learning.workbench.pages import expect_text
from grader.package.package import Limits

pytestmark = pytest.mark.anyio


def test_without_a_verdict_only_the_limits_are_known():
    limits = Limits(time_s=30.0, memory_mb=2048)
    assert expect_text(limits, None) == "Your code may use at most 30 s of CPU time and 2 GB of memory."


def test_the_usual_time_comes_first():
    text = expect_text(Limits(time_s=300.0, memory_mb=512), Typical(3.4, 12))
    assert text == (
        "Half of the last 12 verdicts took at most 4 s. "
        "Your code may use at most 5 min of CPU time and 512 MB of memory."
    )
    assert expect_text(Limits(), Typical(0.02, 3)).startswith("Half of the last 3 verdicts took at most 1 s. ")


async def test_the_page_says_it(service, package):
    for _ in range(3):
        await service.http.post(
            "/api/v1/problems/add_one/attempts?wait=60", json={"source": package.reference}, headers=service.bearer
        )
    answer = await service.http.get("/problems/add_one", headers=service.bearer | {"Accept": "text/html"})
    assert expect_text(package.manifest.limits, Typical(0.01, 3)) in answer.text
