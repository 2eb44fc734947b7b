"""A posted form is read strictly and in bounds."""

import asyncio
from urllib.parse import urlencode

import pytest
from starlette.requests import Request

from app.core.errors import BodyTooLarge, Refused
from app.core.web.forms import FormInvalid, read_unchecked_form


def _read(
    body: bytes, content_type: str = "application/x-www-form-urlencoded", max_bytes: int = 1000
) -> dict[str, str]:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    headers = [(b"content-type", content_type.encode())]
    request = Request({"type": "http", "method": "POST", "path": "/", "headers": headers}, receive)
    return asyncio.run(read_unchecked_form(request, max_bytes=max_bytes))


def test_line_ends_of_a_text_area_become_newlines() -> None:
    assert _read(urlencode({"source": "a\r\nb é"}).encode()) == {"source": "a\nb é"}


@pytest.mark.parametrize(
    "body", [b"source=%ff", b"source=\xff", b"a=1&a=2", b"&".join(b"a%d=1" % n for n in range(70))]
)
def test_a_form_that_cannot_be_read_is_refused(body: bytes) -> None:
    with pytest.raises(FormInvalid):
        _read(body)


def test_a_form_of_another_type_is_refused() -> None:
    with pytest.raises(FormInvalid):
        _read(b'{"source": "x"}', content_type="application/json")


def test_a_form_that_is_too_large_is_refused() -> None:
    with pytest.raises(BodyTooLarge) as refused:
        _read(b"a=" + b"x" * 1000)
    assert isinstance(refused.value, Refused)
    assert refused.value.status == 413
