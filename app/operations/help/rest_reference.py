"""Arranges the OpenAPI description for readers: every operation by its tag."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts

from app.core.rest.openapi import operation_id
from app.core.web.markdown import Prose, render_markdown


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    where: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One method at one path. `answers` explains each status."""

    id: str
    method: str
    path: str
    summary: str
    description: Prose
    parameters: tuple[Parameter, ...]
    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    description: Prose
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Described:
    """An operation in short: its id, which is its anchor on the page, its methods with the path, and what it does."""

    id: str
    title: str
    text: str


class RestOperations:
    """The operations of an app, read from its routes: the OpenAPI description takes seconds to build."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    def __iter__(self) -> Iterator[Described]:
        for context in iter_route_contexts(self._app.routes):
            route = context.original_route
            if isinstance(route, APIRoute) and context.include_in_schema:
                title = f"{' '.join(sorted(context.methods or ()))} {context.path_format}"
                yield Described(operation_id(route), title, f"{context.summary or ''} {context.description}".strip())


def operations_of(openapi: Mapping[str, Any]) -> list[Group]:
    """The groups in the order of the description's tags, each with its operations in the order of the paths."""
    by_tag: dict[str, list[Operation]] = {}
    errors = openapi["components"]["responses"]
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            for tag in operation.get("tags", ["other"])[:1]:
                by_tag.setdefault(tag, []).append(_operation(method, path, operation, errors))
    about = {tag["name"]: tag.get("description", "") for tag in openapi.get("tags", [])}
    names = [name for name in about if name in by_tag] + [name for name in by_tag if name not in about]
    return [Group(name, render_markdown(about.get(name, "")), tuple(by_tag[name])) for name in names]


def _operation(method: str, path: str, operation: Mapping[str, Any], errors: Mapping[str, Any]) -> Operation:
    return Operation(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        description=render_markdown(operation.get("description", ""), anchors=operation["operationId"]),
        parameters=tuple(
            Parameter(each["name"], each["in"], each.get("required", False), each.get("description", ""))
            for each in operation.get("parameters", [])
            if "name" in each
        ),
        answers=tuple((status, _described(answer, errors)) for status, answer in operation["responses"].items()),
    )


def _described(answer: Mapping[str, Any], errors: Mapping[str, Any]) -> str:
    """An error that operations share is described once, and referred to."""
    found = errors[answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer
    return str(found["description"])
