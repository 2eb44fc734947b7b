"""A missing wall: nothing is graded, every page and endpoint says so, and a repair is noticed."""

import pytest

from app.grading.queue.walls import Walls

pytestmark = pytest.mark.anyio
ATTEMPTS = "/api/v1/problems/add_one/attempts"


async def test_a_missing_wall_refuses_to_grade_but_pages_stay_readable(start_service):
    async with start_service(wall_up=False) as service:
        for answer in (
            await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer),
            await service.http.get("/readyz"),
        ):
            assert (answer.status_code, answer.json()["slug"]) == (503, "wall-missing")
            assert answer.json()["walls"] == [
                {"wall": "namespaces", "found": "bubblewrap is not installed", "remedy": "apt-get install bubblewrap"}
            ]
            assert "apt-get install bubblewrap" in answer.json()["detail"]
        assert (await service.http.get("/problems/add_one")).status_code == 200
        assert (await service.http.get("/healthz")).json() == {"status": "ok"}


async def test_a_mended_wall_is_noticed(start_service):
    async with start_service(wall_up=False) as service:
        service.wall.up = True
        service.services[Walls].probe()
        assert (await service.http.get("/readyz")).status_code == 200
        answer = await service.http.post(ATTEMPTS, json={"source": "x"}, headers=service.bearer)
        assert answer.status_code == 202


@pytest.mark.parametrize("probe", [lambda: [], lambda: 1 / 0], ids=["proves nothing", "breaks"])
async def test_a_probe_that_proves_nothing_lets_nothing_pass(probe):
    walls = Walls(probe)
    assert not walls.are_up
    walls.probe()
    assert walls.probed
    assert not walls.are_up
