"""Your own progress over REST."""

import pytest

from app.accounts.service import Accounts
from app.core.database import Database
from tests.app.grading.attempts.handing_in import accepted, hand_in

pytestmark = pytest.mark.anyio
PROGRESS = "/api/v1/me/progress"


async def test_progress_is_the_best_score_of_ones_own_attempts(service):
    assert (await service.http.get(PROGRESS, headers=service.bearer)).json() == {"problems": []}
    state = service.services
    other = await state[Accounts].add_user("somebody", "student")
    await hand_in(state[Database], other, accepted(90.0))
    assert (await service.http.get(PROGRESS, headers=service.bearer)).json() == {"problems": []}
    await hand_in(state[Database], await state[Accounts].ensure_owner(), accepted(90.0))
    expected = {"problems": [{"problem": "add_one", "best_score": 100, "accepted": True}]}
    assert (await service.http.get(PROGRESS, headers=service.bearer)).json() == expected
