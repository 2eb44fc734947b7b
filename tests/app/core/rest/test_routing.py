"""What a route's signature says: its body is read last, and only after everything that may refuse the caller."""

import pytest
from fastapi import Depends, FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from pydantic import BaseModel, ConfigDict

from app.core.rest.error_responses import add_error_responses
from app.core.rest.problem_json import MEDIA_TYPE
from app.core.rest.routing import MaxBytes, RestRoute, RestRouter, refuses
from app.core.services import Services, share
from app.core.settings import Settings
from app.entry.main import create_app
from tests.faults import for_each

ROUTES = [
    route
    for context in iter_route_contexts(create_app(Settings()).routes)
    if isinstance(route := context.original_route, RestRoute)
]


@for_each("route", [each for each in ROUTES if each.body_model], ids=lambda each: each.name)
def test_a_body_is_read_after_all_that_may_refuse_the_caller(route):
    names = [each.call.__name__ for each in route.dependant.dependencies]
    assert set(names[names.index("read_body") + 1 :]) <= {"provided"}


def test_every_rest_route_is_one():
    assert len(ROUTES) > 100
    assert sum(each.body_model is not None for each in ROUTES) > 30


class Note(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    text: str


@refuses(403)
def permitted() -> None:
    pass


def client() -> TestClient:
    router = RestRouter("notes")

    @router.post("/notes/{note_id}")
    async def write(note_id: str, body: Note, only: None = Depends(permitted)) -> str:
        return body.text

    async def nobody(request: object) -> None:
        return None

    app = FastAPI()
    add_error_responses(app, nobody)
    app.include_router(router)
    share(app, Services(Settings()))
    return TestClient(app)


@pytest.mark.parametrize(
    ("content", "media", "slug"),
    [
        (b'{"text": "a", "text": "b"}', "application/json", "field-repeated"),
        (b'{"text": 1}', "application/json", "field-invalid"),
        (b"{}", "application/json", "field-missing"),
        (b'{"text": "a", "more": 1}', "application/json", "field-unknown"),
        (b"", "application/json", "body-not-json"),
        (b"\xff", "application/json", "body-not-utf8"),
        (b"NaN", "application/json", "body-not-json"),
        (b'{"text": "a"}', "text/plain", "content-type-not-json"),
        (b" " * (256 * 1024 + 1), "application/json", "body-too-large"),
    ],
)
def test_a_body_in_the_signature_is_read_strictly(content, media, slug):
    answer = client().post("/notes/1", content=content, headers={"Content-Type": media})
    assert (answer.headers["content-type"], answer.json()["slug"]) == (MEDIA_TYPE, slug)


def test_the_description_has_the_errors_of_dependencies_body_and_path():
    described = client().app.openapi()["paths"]["/notes/{note_id}"]["post"]["responses"]
    assert {"400", "403", "404", "413", "415", "422"} <= described.keys()


def test_a_valid_body_reaches_the_route():
    assert client().post("/notes/1", json={"text": "a"}).json() == "a"


def test_a_limit_follows_the_settings():
    assert MaxBytes(7).of(Settings()) == 7
    assert MaxBytes(lambda settings: settings.max_body_bytes).of(Settings()) == Settings().max_body_bytes
