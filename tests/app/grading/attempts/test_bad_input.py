"""Each kind of bad submission has its own error, as problem+json, and stores nothing."""

import json
from collections.abc import AsyncIterator

import pytest

pytestmark = pytest.mark.anyio
URL = "/api/v1/problems/add_one/attempts"
JSON = {"Content-Type": "application/json"}

BAD = {
    "empty": (b'{"source": ""}', 422, "source-empty"),
    "byte order mark": (b'{"source": "\\ufeff"}', 422, "source-empty"),
    "whitespace": (b'{"source": " \\n\\t"}', 422, "source-empty"),
    "too large": (json.dumps({"source": "x" * 65_537}).encode(), 413, "source-too-large"),
    "too large in UTF-8 only": (json.dumps({"source": "é" * 32_769}).encode(), 413, "source-too-large"),
    "body too large": (b'{"source": "' + b"x" * 500_000 + b'"}', 413, "body-too-large"),
    "not UTF-8": (b'{"source": "\xff"}', 400, "body-not-utf8"),
    "NUL": (b'{"source": "x = 1\\u0000"}', 422, "source-has-nul"),
    "lone surrogate": (b'{"source": "\\ud800"}', 422, "source-not-text"),
    "not JSON": (b"source=x", 400, "body-not-json"),
    "nothing": (b"", 400, "body-not-json"),
    "cut off": (b'{"source": "x', 400, "body-not-json"),
    "NaN": (b'{"source": NaN}', 400, "body-not-json"),
    "nested": (b"[" * 100_000, 400, "body-not-json"),
    "huge number": (b'{"source": ' + b"1" * 10_000 + b"}", 400, "body-not-json"),
    "a list": (b'["x"]', 422, "field-invalid"),
    "a number for a string": (b'{"source": 1}', 422, "field-invalid"),
    "null": (b'{"source": null}', 422, "field-invalid"),
    "missing": (b"{}", 422, "field-missing"),
    "unknown": (b'{"source": "x", "score": 100}', 422, "field-unknown"),
    "repeated": (b'{"source": "x", "source": "y"}', 422, "field-repeated"),
}


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_body_is_refused_and_nothing_is_stored(service, name):
    body, status, slug = BAD[name]
    response = await service.http.post(URL, content=body, headers=service.bearer | JSON)
    assert (response.status_code, response.json()["slug"]) == (status, slug)
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["detail"]
    assert (await service.http.get("/api/v1/attempts", headers=service.bearer)).json()["attempts"] == []


async def test_a_source_of_exactly_64_kib_is_taken(service):
    response = await service.http.post(URL, json={"source": "é" * 32_768}, headers=service.bearer)
    assert response.status_code == 202


async def test_an_endless_body_is_cut_off(service):
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 65_536
            yield b" " * 65_536

    response = await service.http.post(URL, content=endless(), headers=service.bearer | JSON)
    assert response.json()["slug"] == "body-too-large"
    assert sent < 1_000_000


async def test_a_form_is_no_json(service):
    response = await service.http.post(URL, data={"source": "x"}, headers=service.bearer)
    assert (response.status_code, response.json()["slug"]) == (415, "content-type-not-json")


async def test_an_unknown_slug_suggests_the_nearest(service):
    response = await service.http.post("/api/v1/problems/ad_one/runs", json={"source": "x"}, headers=service.bearer)
    assert response.status_code == 404
    assert response.json()["suggestion"] == "add_one"
    assert "Did you mean 'add_one'?" in response.json()["detail"]


@pytest.mark.parametrize("wait", ["-1", "61", "nan", "inf", "soon"])
async def test_a_wrong_wait_is_refused(service, wait):
    response = await service.http.post(f"{URL}?wait={wait}", json={"source": "x"}, headers=service.bearer)
    assert (response.status_code, response.json()["slug"]) == (422, "field-invalid")
