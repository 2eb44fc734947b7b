import pytest

from app.help.pages import every_refusal
from grader.reasons import REASONS

pytestmark = pytest.mark.anyio


async def test_the_type_of_every_error_leads_to_its_place_on_the_page(service):
    page = (await service.http.get("/help/errors")).text
    refused = (await service.http.get("/api/v1/problems/nothing")).json()
    path, _, slug = refused["type"].partition("#")
    assert path == "/help/errors"
    assert slug in {refusal.slug for refusal in every_refusal()}
    for refusal in every_refusal():
        assert f'id="{refusal.slug}"' in page


async def test_every_reason_has_its_place_on_the_page_that_a_verdict_leads_to(service):
    page = (await service.http.get("/help/reasons")).text
    for reason in REASONS:
        assert f'id="{reason}"' in page
