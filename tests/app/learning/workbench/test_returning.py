"""Anyone who returns to a problem finds the attempt in progress or the last verdict, and the editorial once open."""

import pytest

from app.core.web.units import NOTHING
from tests.app.grading.attempts.test_submit import HeldGrader

pytestmark = pytest.mark.anyio
PAGE = "/problems/add_one"


async def show(service, path: str = PAGE) -> str:
    answer = await service.http.get(path, headers=service.bearer | {"Accept": "text/html"})
    assert answer.status_code == 200
    return answer.text


async def send(service, package, kind: str, wait_s: float = 10) -> str:
    answer = await service.http.post(
        f"/api/v1{PAGE}/{kind}?wait={wait_s}", json={"source": package.reference}, headers=service.bearer
    )
    return answer.json()["id"]


async def test_the_page_names_the_attempt_that_is_under_way(start_service, package):
    grader = HeldGrader()
    async with start_service(grader) as service:
        running = await send(service, package, "attempts", 0.5)
        page = await show(service)
        assert f'data-under-way="{running}"' in page
        assert f'<a href="/attempts/{running}">See its progress</a>' in page
        assert "data-last" not in page
        attempt = await show(service, f"/attempts/{running}")
        assert '<noscript><meta http-equiv="refresh" content="3"></noscript>' in attempt
        grader.go.set()


async def test_the_page_shows_the_last_verdict(service, package):
    assert "data-last" not in await show(service)
    await send(service, package, "attempts")
    last = await send(service, package, "runs")
    page = await show(service)
    assert f'data-last="/attempts/{last}/verdict"' in page
    assert "Your last run" in page
    assert "data-under-way" not in page
    assert "http-equiv" not in await show(service, f"/attempts/{last}")


async def test_the_editorial_opens_with_the_first_accepted_attempt(service, package):
    await send(service, package, "runs")
    for path in (PAGE, f"{PAGE}/editorial"):
        assert "EDITORIAL-SECRET" not in await show(service, path)
    await send(service, package, "attempts")
    for path in (PAGE, f"{PAGE}/editorial"):
        assert "EDITORIAL-SECRET" in await show(service, path)


async def test_the_starter_as_it_was_given_shows_no_score(service, package):
    for source, score in ((package.starter, NOTHING), ("x", "0")):
        answer = await service.http.post(
            f"/api/v1{PAGE}/attempts?wait=60", json={"source": source}, headers=service.bearer
        )
        for path in ("/attempts", PAGE, f"{PAGE}/previous"):
            row = (await show(service, path)).rpartition("<tbody>")[2].partition("</tr>")[0]
            assert f'<td class="number">{score}</td>' in row, path
        for path in ("", "/verdict"):
            page = await show(service, f"/attempts/{answer.json()['id']}{path}")
            assert ('<p class="score">' in page) is (score == "0"), path


async def test_the_starter_as_it_was_given_is_nothing_written_yet(service, package):
    for source, status in ((package.starter, "unwritten"), (f"{package.starter}\n", "unwritten"), ("x", "rejected")):
        answer = await service.http.post(f"/api/v1{PAGE}/runs?wait=60", json={"source": source}, headers=service.bearer)
        for path in ("/attempts", PAGE, f"{PAGE}/previous"):
            # The page of a problem has a table before that of the attempts: how it is graded.
            row = (await show(service, path)).rpartition("<tbody>")[2].partition("</tr>")[0]
            # A list compares the texts as they are, and a verdict without their whitespace.
            assert ("nothing written" in row) is (source == package.starter), path
        for path in ("", "/verdict"):
            page = await show(service, f"/attempts/{answer.json()['id']}{path}")
            assert f'class="verdict" data-status="{status}"' in page
