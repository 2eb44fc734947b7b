"""An attempt whose verdict an earlier version of Meshgrade stored opens everywhere, with its evidence."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.core.database import Database
from app.grading.queue.models import AttemptRow

pytestmark = pytest.mark.anyio
FIRST = Path(__file__).parents[3] / "grader" / "stored_verdicts" / "version_1"


@pytest.fixture
async def old_attempt(service, request) -> str:
    """Grade an attempt today, and then give it a verdict of the first version."""
    answer = await service.http.post(
        "/api/v1/problems/add_one/attempts?wait=60", json={"source": "def add_one(x): ..."}, headers=service.bearer
    )
    attempt_id: str = answer.json()["id"]
    verdict: dict[str, Any] = json.loads((FIRST / f"{request.param}.json").read_text(encoding="utf-8"))
    async with service.services[Database].writing() as session:
        row = await session.get(AttemptRow, attempt_id)
        row.verdict = verdict
    return attempt_id


@pytest.mark.parametrize(
    ("old_attempt", "texts"),
    [
        ("call_rejected", ["relative error"]),
        ("program_accepted", ["Mesh fsdp = 8", "Mesh fsdp = 4", "Collectives in program order", "yours"]),
    ],
    indirect=["old_attempt"],
)
async def test_its_page_and_its_json_show_the_evidence(service, old_attempt, texts):
    page = await service.http.get(f"/attempts/{old_attempt}", headers=service.bearer)
    assert page.status_code == 200
    assert [text for text in texts if text not in page.text] == []
    verdict = (await service.http.get(f"/api/v1/attempts/{old_attempt}", headers=service.bearer)).json()["verdict"]
    assert verdict["schema_version"] == 2
    assert all("kind" in entry for check in verdict["checks"] for entry in check["evidence"])
