"""Formatting over REST: ruff's defaults, in a process with limits, for anyone who may submit. Nothing is stored."""

import pytest

pytestmark = pytest.mark.anyio
PATH = "/api/v1/format"


async def formatted(service, source: object):
    return await service.http.post(PATH, json={"source": source}, headers=service.bearer)


async def test_code_gets_the_style_of_ruff(service):
    response = await formatted(service, "def f( x ):\n  return {'a':x}\n\n\n\nf(1)")
    assert response.json() == {"source": 'def f(x):\n    return {"a": x}\n\n\nf(1)\n'}
    again = await formatted(service, response.json()["source"])
    assert again.json() == response.json()


@pytest.mark.parametrize(
    ("source", "status", "slug"),
    [
        ("x = 1\ny = (\n", 422, "source-not-formatted"),
        ("", 422, "source-empty"),
        ("\0", 422, "source-has-nul"),
        ("x = 1\n" * 20_000, 413, "source-too-large"),
        (7, 422, "field-invalid"),
    ],
)
async def test_what_is_not_python_is_refused(service, source: object, status: int, slug: str):
    refused = await formatted(service, source)
    assert (refused.status_code, refused.json()["slug"]) == (status, slug), refused.text


async def test_a_refusal_names_the_line(service):
    detail = (await formatted(service, "x = 1\ny = )\n")).json()["detail"]
    assert detail.startswith("Line 2: ")


async def test_deep_nesting_is_ended_or_formatted_in_time(service):
    nested = "(" * 5_000 + ")" * 5_000
    assert (await formatted(service, nested)).status_code in (200, 422)


async def test_nobody_is_refused_without_an_account_or_a_page(service):
    assert (await service.http.post(PATH, json={"source": "x = 1"})).status_code == 401
