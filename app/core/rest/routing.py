"""Routes of REST: a route's signature says what it reads, what it requires and, by that, which errors it can give.

A parameter whose type is a pydantic model, and that no dependency gives, is the body, as in FastAPI. But
app/core/rest/body.py reads it: strictly, with an error for each fault, and after the dependencies before it, so that
nobody sends a body without being permitted to.
"""

import inspect
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from fastapi import APIRouter, Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.params import Depends as DependsParameter
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.responses import Response

from app.core.rest.body import MAX_BYTES, read_json
from app.core.rest.list_tags import IF_NONE_MATCH, WITH_ETAG, tagged
from app.core.rest.problem_json import problem_responses
from app.core.services import Provided, with_services
from app.core.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class MaxBytes:
    """In the annotation of a body that may be larger than `MAX_BYTES`."""

    limit: int | Callable[[Settings], int]

    def of(self, settings: Settings) -> int:
        return self.limit if isinstance(self.limit, int) else self.limit(settings)


# Of a form that anyone can send, without signing in.
FROM_ANYONE = MaxBytes(4096)


def refuses(*statuses: int) -> Callable[[F], F]:
    """Tells which errors a dependency raises, for the description of each route that has it."""

    def mark(dependency: F) -> F:
        dependency.refuses = statuses  # type: ignore[attr-defined]
        return dependency

    return mark


class ServiceRoute(APIRoute):
    """Gives the endpoint its services itself. FastAPI would take as long for each as for a whole short dependency."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, with_services(endpoint), **options)


class RestRoute(ServiceRoute):
    """`body_model` is what the route reads; None if it has no body that is JSON.

    A response with a page of a list has an `ETag`.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.body_model = _read_strictly(endpoint)
        if self.body_model is not None:
            options["openapi_extra"] = _described(self.body_model)
        super().__init__(path, endpoint, **options)
        self.responses = {**problem_responses(*sorted(set(self._refusals()))), **self.responses}
        if self._is_list:
            self.responses |= WITH_ETAG
            self.openapi_extra = IF_NONE_MATCH

    @property
    def _is_list(self) -> bool:
        model = self.response_model
        return self.methods == {"GET"} and inspect.isclass(model) and "next" in getattr(model, "model_fields", ())

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        return tagged(handle) if self._is_list else handle

    def _refusals(self) -> Iterator[int]:
        if self.body_model is not None:
            yield from (400, 413, 415, 422)
        if "{" in self.path:
            yield 404
        yield from _refusals_of(self.dependant)


class RestRouter(APIRouter):
    """Routes of REST, which the description lists under `tag`.

    `is_versioned` if their paths begin with /api/v1, and `is_counted` if each request counts towards the rate limit.
    """

    def __init__(self, tag: str, prefix: str = "", *, is_versioned: bool = True, is_counted: bool = True) -> None:
        super().__init__(tags=[tag], prefix=prefix, route_class=RestRoute)
        self.is_versioned, self.is_counted = is_versioned, is_counted


class PageRouter(APIRouter):
    """Routes for browsers, which the description leaves out.

    `is_read_once` if what a GET shows is read in one transaction.
    """

    def __init__(self, prefix: str = "", *, is_read_once: bool = True) -> None:
        super().__init__(prefix=prefix, include_in_schema=False, route_class=ServiceRoute)
        self.is_read_once = is_read_once


def body_of(endpoint: Callable[..., Any]) -> tuple[str, type[BaseModel]] | None:
    """The name and the model of the endpoint's body; None if it has none."""
    for name, hint in get_type_hints(endpoint, include_extras=True).items():
        model, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        is_given = name == "return" or any(isinstance(each, DependsParameter) for each in marks)
        if not is_given and inspect.isclass(model) and issubclass(model, BaseModel):
            return name, model
    return None


def _read_strictly(endpoint: Callable[..., Any]) -> type[BaseModel] | None:
    """Let the endpoint's body, if it has one, be read as a dependency. Returns its model."""
    found = body_of(endpoint)
    if found is None:
        return None
    name, model = found
    signature = inspect.signature(endpoint)
    marks = get_args(get_type_hints(endpoint, include_extras=True)[name])[1:]
    limit = next((each for each in marks if isinstance(each, MaxBytes)), MaxBytes(MAX_BYTES))
    body = signature.parameters[name].replace(annotation=Annotated[model, Depends(_reader(model, limit))])
    changed = [body if each.name == name else each for each in signature.parameters.values()]
    endpoint.__signature__ = signature.replace(parameters=changed)  # type: ignore[attr-defined]
    return model


def _reader(model: type[BaseModel], limit: MaxBytes) -> Callable[..., Any]:
    async def read_body(request: Request, settings: Provided[Settings]) -> BaseModel:
        return await read_json(request, model, max_bytes=limit.of(settings))

    return with_services(read_body)


def _described(model: type[BaseModel]) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _refusals_of(dependant: Dependant) -> Iterator[int]:
    constrained = any(each.field_info.metadata for each in dependant.path_params)
    if constrained or dependant.query_params or dependant.header_params:
        yield 422
    for each in dependant.dependencies:
        yield from getattr(each.call, "refuses", ())
        yield from _refusals_of(each)
