"""Services are found by their type, and each that a route asks for can be had."""

import inspect
from typing import Protocol, get_args, get_type_hints

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from app.core.services import Provided, Services, share


class Pen:
    pass


class Desk:
    def __init__(self, pen: Pen, legs: int = 4) -> None:
        self.pen, self.legs = pen, legs


class Sealed:
    def __init__(self, desk: Desk, secret: bytes) -> None:
        self.secret = secret


class Writes(Protocol):
    def write(self) -> None: ...


def test_a_service_is_built_once_from_those_that_its_constructor_names():
    services = Services()
    desk = services[Desk]
    assert services[Desk] is desk
    assert desk.pen is services[Pen]


def test_one_that_is_provided_is_used_instead():
    pen = Pen()
    services = Services(pen)
    assert services[Desk].pen is pen


@pytest.mark.parametrize(("kind", "missing"), [(Sealed, "bytes"), (Writes, "Writes")])
def test_one_that_needs_a_value_must_be_provided(kind, missing):
    with pytest.raises(TypeError, match=f"app/entry/main.py provides no {missing}"):
        Services()[kind]


def test_a_protocol_is_provided_by_what_implements_it():
    services, pen = Services(), Pen()
    assert services.provide(Writes, pen) is pen is services[Writes]


def test_a_route_asks_for_one_by_type():
    app = FastAPI()

    @app.get("/")
    async def legs(desk: Provided[Desk]) -> int:
        return desk.legs

    share(app, Services(Desk(Pen(), 3)))
    assert TestClient(app).get("/").json() == 3


def asked_for(app: FastAPI) -> set[type]:
    """By every route in its signature."""
    hints = [
        hint
        for context in iter_route_contexts(app.routes)
        if inspect.isfunction(getattr(context, "endpoint", None))
        for hint in get_type_hints(context.endpoint, include_extras=True).values()
    ]
    return {get_args(each)[0] for each in hints if get_args(Provided[int])[1] in get_args(each)}


@pytest.mark.anyio
async def test_every_service_that_a_route_asks_for_can_be_had(shared_service):
    kinds = asked_for(shared_service.app)
    assert len(kinds) > 20
    # Raises `TypeError` for one that cannot be built.
    found = [shared_service.services[kind] for kind in kinds]
    assert None not in found
