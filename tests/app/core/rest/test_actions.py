"""What a form says to values that are empty, huge, malformed or foreign: the same as REST."""

from typing import Annotated

import httpx
import pytest
from fastapi import FastAPI, Request
from pydantic import Field
from starlette.responses import JSONResponse, Response

from app.core.errors import FieldInvalid, FormTokenInvalid, Refused
from app.core.rest import actions as actions_module
from app.core.rest.actions import AS_TYPED, Actions, FormPage, FromForm, Typed
from app.core.rest.body import RequestBody
from app.core.rest.error_responses import add_error_responses
from app.core.services import Services, share
from app.core.settings import Settings

pytestmark = pytest.mark.anyio


class Points(RequestBody):
    score: int = Field(ge=0, le=100)
    reason: str = Field(default="", max_length=20)
    names: list[Annotated[str, Field(max_length=10)]] = Field(default=[], max_length=2)


def two_halves(text: str) -> list[int]:
    if not text.isdigit():
        raise FieldInvalid("halves: give a number.")
    return [int(text) // 2] * 2


class Choice(RequestBody):
    parts: list[str] = Field(default=["hints"])
    password: str | None = None
    exam: bool = False
    source: Annotated[str, AS_TYPED] = "none"
    halves: Annotated[list[int], FromForm(two_halves)] = Field(default=[2])


class Page(FormPage):
    def __init__(self, request: Request) -> None:
        self.request = request

    async def fill(self, action: str, typed: Typed) -> Response | None:
        return JSONResponse(dict(typed)) if typed.pop("step", "") == "more" else None

    async def refused(self, action: str, refusal: Refused, typed: Typed) -> Response:
        kept = [action, str(refusal), typed["reason"], typed["no such field"]]
        return JSONResponse(kept, status_code=refusal.status)


def check_token(request: Request, token: str) -> None:
    if token == "another browser":
        raise FormTokenInvalid("Send the form again.")


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

    @actions.form("/choose")
    async def choose(body: Choice) -> None:
        done.append(body)

    @buttons.form("/raw", then="/raw?{result}", page=Page)
    async def raw(typed: Typed) -> str | Response:
        done.append(dict(typed))
        return Response("shown") if typed["show"] else "done"

    app = FastAPI()
    share(app, Services(Settings()))
    add_error_responses(app, nobody)
    for each in (actions, buttons):
        app.include_router(each.api, prefix="/api")
        app.include_router(each.pages)
    # Its own tests and that of every route prove that it is checked.
    monkeypatch.setattr(actions_module, "check_form_token", check_token)
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


@pytest.mark.parametrize(
    ("form", "read"),
    [
        ({}, Choice()),
        ({"parts": ""}, Choice(parts=[])),
        ({"parts": "", "parts-hints": "on", "parts-the-editor": "on"}, Choice(parts=["hints", "the-editor"])),
        ({"parts": "a\nb", "exam": "on"}, Choice(parts=["a", "b"], exam=True)),
        ({"password": ""}, Choice()),
        ({"empty-password": "on", "password": "secret"}, Choice(password="")),
        ({"password": " secret "}, Choice(password="secret")),
        ({"halves": " "}, Choice(halves=[])),
        ({"source": " a\r\n "}, Choice(source=" a\n ")),
        ({"source": " "}, Choice()),
        ({"halves": "10"}, Choice(halves=[5, 5])),
    ],
)
async def test_boxes_lists_and_texts_are_read_by_the_fields_of_the_body(client, form, read):
    sent = await client.post("/things/choose", data={"form_token": "", **form})
    assert (sent.status_code, client.done) == (303, [read])


async def test_a_reader_of_a_field_refuses_like_the_field(client):
    sent = await client.post("/things/choose", data={"halves": "ten", "reason": "kept"})
    assert (sent.status_code, sent.json()) == (422, ["choose", "halves: give a number.", "kept", ""])


async def test_a_form_without_rest_reads_what_was_typed_and_may_answer(client):
    assert (await client.post("/raw", data={"a": "1"})).headers["location"] == "/raw?done"
    assert (await client.post("/raw", data={"show": "1"})).text == "shown"
    assert client.done == [{"a": "1"}, {"show": "1"}]


async def test_a_button_of_the_page_fills_in_the_form(client):
    sent = await client.post("/things/a/change", data={"step": "more", "score": "x"})
    assert (sent.json(), client.done) == ({"score": "x"}, [])
    await client.post("/things/a/change", data={"step": "", "score": "1"})
    assert len(client.done) == 1


async def test_a_form_of_another_browser_is_shown_again_with_what_was_typed(client):
    form = {"form_token": "another browser", "reason": "long", "score": "1", "step": "more"}
    sent = await client.post("/things/a/change", data=form)
    assert (sent.status_code, sent.json()) == (403, ["change", "Send the form again.", "long", ""])
    assert client.done == []
