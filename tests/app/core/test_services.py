"""Services are found by their type, and each that a route asks for can be had."""

import inspect
from dataclasses import dataclass
from typing import Protocol, get_args

import pytest
from fastapi import FastAPI, Request
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from app.core.rest.actions import FormPage, PageOf
from app.core.rest.routing import PageRouter
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


def test_a_route_of_ours_asks_for_some_beside_what_a_request_gives():
    pages = PageRouter()

    @pages.get("/desks/{place}")
    async def sit(place: str, desk: Provided[Desk], request: Request, pen: Provided[Pen]) -> str:
        return f"{place} {desk.legs} {request.url.path} {pen is desk.pen}"

    @pages.get("/pens")
    async def write(pen: Provided[Pen], words: int = 1) -> str:
        return f"{type(pen).__name__} {words}"

    app = FastAPI()
    app.include_router(pages)
    pen = Pen()
    share(app, Services(Desk(pen, 3), pen))
    client = TestClient(app)
    assert client.get("/desks/left").json() == "left 3 /desks/left True"
    assert client.get("/pens?words=2").json() == "Pen 2"
    assert client.get("/pens?words=no").status_code == 422


@dataclass(frozen=True)
class DeskPage(FormPage):
    place: str
    desk: Provided[Desk]
    pen: Provided[Pen]


def test_a_page_asks_for_some_beside_what_a_request_gives():
    pages = PageRouter()

    @pages.get("/desks/{place}")
    async def sit(page: PageOf[DeskPage]) -> str:
        return f"{page.place} {page.desk.legs} {page.pen is page.desk.pen}"

    app = FastAPI()
    app.include_router(pages)
    pen = Pen()
    share(app, Services(Desk(pen, 3), pen))
    assert TestClient(app).get("/desks/left").json() == "left 3 True"


def asked_for(app: FastAPI) -> set[type]:
    """By every route in its signature, and by every page that a route shows in the one of its constructor."""
    service, page = (type(get_args(each[int])[1]) for each in (Provided, PageOf))
    left = [each for context in iter_route_contexts(app.routes) if (each := getattr(context, "endpoint", None))]
    found: set[type] = set()
    while left:
        # A route's own endpoint is inside the one that FastAPI calls.
        for parameter in inspect.signature(inspect.unwrap(left.pop()), eval_str=True).parameters.values():
            kind, *marks = get_args(parameter.annotation) or (None,)
            if any(isinstance(each, service) for each in marks):
                found.add(kind)
            elif any(isinstance(each, page) for each in marks):
                left.append(kind)
    return found


@pytest.mark.anyio
async def test_every_service_that_a_route_asks_for_can_be_had(shared_service):
    kinds = asked_for(shared_service.app)
    assert len(kinds) > 60
    # Raises `TypeError` for one that cannot be built.
    found = [shared_service.services[kind] for kind in kinds]
    assert None not in found
