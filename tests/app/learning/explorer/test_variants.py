"""A problem with variants is explored in the variant of the person who asks, and the others' results are not reused."""

import asyncio
import shutil

import pytest

from app.problems.variants import VariantDraws
from grader.review.reader import read_package
from tests.app.accounts.people import SITE, browser, sign_up
from tests.app.learning.explorer.conftest import PROGRAM, Measuring
from tests.app.teaching.people.test_attempts_of_others import me

pytestmark = pytest.mark.anyio
MOVE_BY = read_package(PROGRAM.parent / "move_by")


class Noting(Measuring):
    """Notes the variant of each program."""

    def __init__(self):
        super().__init__()
        self.variants = []

    def inspect(self, package, *args, **options):
        self.variants.append(package.variant_name)
        return super().inspect(package, *args, **options)


async def test_each_variant_is_explored_once(start_service, package, tmp_path):
    shutil.copytree(PROGRAM.parent / "move_by", tmp_path / "problems" / "move_by")
    grader, asked = Noting(), set()
    async with start_service(grader) as service:
        for number in range(6):
            async with browser(service) as http:
                await sign_up(service, http, f"student{number}")
                asked.add(service.services[VariantDraws].seen_by(await me(http), MOVE_BY).variant_name)
                body = {"problem": "move_by", "source": "gather = 1"}
                answer = await http.post("/api/v1/explorations", json=body, headers=SITE)
                assert answer.status_code in (201, 202), answer.text
                while (await http.get(answer.headers["location"])).json()["status"] != "finished":
                    await asyncio.sleep(0.02)
                assert set(grader.variants) == asked
    assert sorted(grader.variants) == ["fast", "slow"]
