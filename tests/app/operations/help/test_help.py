import pytest

from app.operations.help.pages import every_refusal
from grader.core.reasons import REASONS

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


async def test_the_page_of_the_rest_interface_has_every_operation(service):
    page = (await service.http.get("/help/rest")).text
    paths = (await service.http.get("/openapi.json")).json()["paths"]
    for path, methods in paths.items():
        for method, operation in methods.items():
            assert f'id="{operation["operationId"]}"' in page
            assert f"{method.upper()} {path}" in page
    assert '<a href="/help/rest">REST API</a>' in (await service.http.get("/")).text


async def test_robots_are_told_what_is_nobodys_but_ones_own(service):
    answer = await service.http.get("/robots.txt")
    assert answer.headers["content-type"].startswith("text/plain")
    assert {"Disallow: /api/", "Disallow: /account", "Disallow: /attempts"} <= set(answer.text.splitlines())
    assert "Disallow: /problems" not in answer.text


async def test_there_is_an_icon_where_programs_look_for_one(service):
    answer = await service.http.get("/favicon.ico")
    assert answer.status_code == 200
    # The head of an ICO file, with at least one image.
    assert answer.content[:4] == bytes([0, 0, 1, 0])
    assert answer.content[4] >= 1


async def test_a_page_describes_itself_to_search_engines_and_chats(service):
    page = (await service.http.get("/problems/add_one")).text
    assert '<meta name="description" content="Add one to a number.">' in page
    assert '<meta property="og:title" content="Add one">' in page
    assert '<meta property="og:description" content="Add one to a number.">' in page
    assert '<meta name="description" content="Practice problems' in (await service.http.get("/")).text
