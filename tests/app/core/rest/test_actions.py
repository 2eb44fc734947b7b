"""What a form says to values that are empty, huge, malformed or foreign: the same as REST."""

from typing import Annotated

import httpx
import pytest
from fastapi import FastAPI, Request
from pydantic import Field
from starlette.responses import JSONResponse, Response

from app.core.errors import Refused
from app.core.rest.actions import Actions, FormPage, Typed
from app.core.rest.body import RequestBody
from app.core.rest.error_responses import add_error_responses
from app.core.services import Services, share
from app.core.settings import Settings
from app.core.web import forms

pytestmark = pytest.mark.anyio


class Points(RequestBody):
    score: int = Field(ge=0, le=100)
    reason: str = Field(default="", max_length=20)
    names: list[Annotated[str, Field(max_length=10)]] = Field(default=[], max_length=2)


class Page(FormPage):
    def __init__(self, request: Request) -> None:
        self.request = request

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        kept = [action, str(refusal), typed["reason"], typed["no such field"]]
        return JSONResponse(kept, status_code=refusal.status)


@pytest.fixture
async def client(monkeypatch):
    actions, buttons = Actions("people", Page, "/things"), Actions("people")
    done = []

    @actions.put("/{thing_id}", form="/{thing_id}/change")
    async def change(thing_id: str, body: Points) -> Points:
        done.append((thing_id, body))
        return body

    @buttons.delete("/things/{thing_id}", form="/things/{thing_id}/remove", then="/after/{thing_id}")
    async def remove(thing_id: str) -> None:
        done.append((thing_id, None))

    async def nobody(request: Request) -> None:
        return None

    app = FastAPI()
    share(app, Services(Settings()))
    add_error_responses(app, nobody)
    for each in (actions, buttons):
        app.include_router(each.api, prefix="/api")
        app.include_router(each.pages)
    # Its own tests and that of every route prove that it is checked.
    monkeypatch.setattr(forms, "check_form_token", lambda request, token: None)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        http.done = done
        yield http


async def test_a_form_and_rest_do_the_same(client):
    form = {"score": " 7 ", "reason": "", "names": "ada\r\n\r\n bob \r\n"}
    sent = await client.post("/things/a/change", data=form)
    assert (sent.status_code, sent.headers["location"]) == (303, "/")
    await client.put("/api/things/a", json={"score": 7, "names": ["ada", "bob"]})
    assert client.done[0] == client.done[1] == ("a", Points(score=7, names=["ada", "bob"]))


async def test_a_button_leads_where_it_says(client):
    sent = await client.post("/things/a%20b/remove", data={"form_token": "x"})
    assert (sent.status_code, sent.headers["location"]) == (303, "/after/a%20b")
    assert client.done == [("a b", None)]


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"reason": "x"}, "score: is required."),
        ({"score": " "}, "score: is required."),
        ({"score": "much"}, "score: must be a whole number."),
        ({"score": "7.5"}, "score: must be a whole number."),
        ({"score": "9" * 5000}, "score: must be a whole number."),
        ({"score": "NaN"}, "score: must be a whole number."),
        ({"score": "-1"}, "score: must be at least 0."),
        ({"score": "101"}, "score: must be at most 100."),
        ({"score": "1", "reason": "x" * 21}, "reason: must have at most 20 characters."),
        ({"score": "1", "names": "a\nb\nc"}, "names: must have at most 2 entries."),
        ({"score": "1", "names": "a\n" + "b" * 11}, "names.1: must have at most 10 characters."),
        ({"score": "1", "<script>": "x"}, "<script>: there is no such field."),
    ],
)
async def test_what_is_wrong_is_said_and_what_was_typed_is_kept(client, form, says):
    sent = await client.post("/things/a/change", data=form)
    assert (sent.status_code, client.done) == (422, [])
    assert sent.json() == ["change", says, form.get("reason", ""), ""]


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"score=1&score=2", "application/x-www-form-urlencoded", 400),
        (b"score=%ff", "application/x-www-form-urlencoded", 400),
        (b"&".join(b"f%d=1" % number for number in range(50)), "application/x-www-form-urlencoded", 400),
        (b'{"score": 1}', "application/json", 400),
        (b"score=" + b"1" * (300 * 1024), "application/x-www-form-urlencoded", 413),
    ],
    ids=["repeated", "not UTF-8", "many fields", "JSON", "huge"],
)
async def test_what_is_no_form_of_ours_is_refused(client, body, kind, status):
    sent = await client.post("/things/a/change", content=body, headers={"Content-Type": kind})
    assert (sent.status_code, client.done) == (status, [])
