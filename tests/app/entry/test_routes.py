"""The table of routes has every router of the product, and no route hides another one."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from string import Formatter

import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import compile_path

import app as product
from app.core.rest.actions import FormPage, TypedPage
from app.core.settings import Settings
from app.entry.main import create_app
from app.entry.routes import MODULES, routers_of

Route = tuple[str, frozenset[str]]


def hidden(routes: Iterable[Route]) -> Iterator[tuple[str, str]]:
    """Each route whose every request an earlier one takes, after the earlier one: their paths.

    A parameter is any text without a slash, so a path with a name that no other path contains stands for all of its
    addresses.
    """
    earlier = []
    for path, methods in routes:
        pattern, _, parameters = compile_path(path)
        address = path
        for name in parameters:
            address = address.replace(f"{{{name}}}", "\0")
        left = set(methods)
        for other, pattern_before, methods_before in earlier:
            if methods_before & left and pattern_before.match(address):
                yield other, path
                left -= methods_before
        earlier.append((path, pattern, methods))


def in_threads(dependant: Dependant) -> Iterator[str]:
    """What FastAPI would call in a thread, which costs more CPU time than a statement."""
    if not (is_coroutine(dependant.call) or inspect.isasyncgenfunction(dependant.call)):
        yield f"{dependant.call.__module__}.{dependant.call.__qualname__}"
    for each in dependant.dependencies:
        yield from in_threads(each)


def is_coroutine(call: object) -> bool:
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(getattr(call, "__call__", None))  # noqa: B004


def routes_in_order(of: FastAPI) -> list[Route]:
    return [(each.path, frozenset(each.methods or ())) for each in iter_route_contexts(of.routes)]


def test_nothing_that_a_route_calls_runs_in_a_thread():
    found = {
        name
        for module in MODULES
        for router in routers_of(module)
        for route in router.routes
        if isinstance(route, APIRoute)
        for name in in_threads(route.dependant)
    }
    assert found == set()


def test_no_route_is_hidden_by_an_earlier_one():
    routes = routes_in_order(create_app(Settings()))
    assert len(routes) > len(MODULES)
    assert list(hidden(routes)) == []


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (("/attempts/{id}", "/attempts/compare"), [("/attempts/{id}", "/attempts/compare")]),
        (("/attempts/compare", "/attempts/{id}"), []),
        (("/people/{id}", "/people/{name}"), [("/people/{id}", "/people/{name}")]),
        (("/people/{id}", "/people/{id}/attempts"), []),
        # Both have addresses of their own.
        (("/{a}/new", "/old/{b}"), []),
    ],
    ids=lambda each: " ".join(each) if isinstance(each[0] if each else each, str) else None,
)
def test_a_hidden_route_is_found(paths, found):
    get = frozenset({"GET"})
    assert list(hidden((each, get) for each in paths)) == found


def test_a_route_of_another_method_hides_nothing():
    assert list(hidden([("/x/{id}", frozenset({"POST"})), ("/x/new", frozenset({"GET"}))])) == []


def test_every_module_with_a_router_is_in_the_table():
    named = {each.name for each in pkgutil.walk_packages(product.__path__, "app.") if not each.ispkg}
    having = {name for name in named if routers_of(importlib.import_module(name))}
    assert having == {each.__name__ for each in MODULES}


def test_the_path_of_a_page_names_its_fields():
    pages = [each for base in (FormPage, TypedPage) for each in base.__subclasses__() if is_dataclass(each)]
    assert any("{" in each.path for each in pages)
    for page in pages:
        named = {name.partition(".")[0].partition("[")[0] for _, name, _, _ in Formatter().parse(page.path) if name}
        assert named <= {each.name for each in fields(page)}, page
