"""The services that the routes and the background work of one process share, found by their type.

A route asks for what it uses in its signature: `courses: Provided[Courses]`. A service is built when it is
first asked for, from its constructor's annotations, so only those that also need a value, such as a secret, are built
in app/entry/main.py. Why not a library: docs/decisions/0033-routes-say-what-they-use.md
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from fastapi import FastAPI, Request, params

S = TypeVar("S")


class Services:
    """One instance of each type. Belongs to one event loop."""

    def __init__(self, *services: object) -> None:
        self._by_type: dict[type, Any] = {}
        self.add(*services)

    def add(self, *services: object) -> None:
        """Provide each as its own type, instead of one that was provided before."""
        self._by_type.update((type(each), each) for each in services)

    def provide(self, kind: type[S], service: S) -> S:
        """Provide a service as `kind`, for example a protocol that its type implements."""
        self._by_type[kind] = service
        return service

    def __getitem__(self, kind: type[S]) -> S:
        """The service of this type.

        Raises:
          TypeError: there is none, and it cannot be built: it is a protocol, or needs a value that is not a service.
        """
        if kind not in self._by_type:
            self._by_type[kind] = self._build(kind)
        service: S = self._by_type[kind]
        return service

    def _build(self, kind: type[S]) -> S:
        if getattr(kind, "_is_protocol", False) or kind.__module__ == "builtins":
            raise TypeError(f"app/entry/main.py provides no {kind.__name__}")
        needed = inspect.signature(kind).parameters.values()
        kinds = get_type_hints(kind.__init__)
        return kind(**{each.name: self[kinds[each.name]] for each in needed if each.default is each.empty})


def share(app: FastAPI, services: Services) -> None:
    """Give the app's routes these services. Before the lifespan has begun, a route finds none."""
    app.state.services = services


def services_of(request: Request) -> Services:
    """The services of the app that handles this request.

    A route, a page or a dependency names what it uses in its signature instead. This is for the rest: middlewares and
    exception handlers, which have no such signature, and what they share with routes to read a request (who sent it,
    from which origin, over HTTPS).
    """
    services: Services = request.app.state.services
    return services


@dataclass(frozen=True)
class _Provided(params.Depends):
    def __post_init__(self) -> None:
        kind: Any = self.dependency
        if kind is None:
            return  # FastAPI has not yet filled in the type that it annotates.

        async def provided(request: Request) -> object:
            return services_of(request)[kind]

        object.__setattr__(self, "dependency", provided)


# `Provided[Courses]` is `Annotated[Courses, _Provided()]`.
Provided = Annotated[S, _Provided()]


def with_services(function: Callable[..., Any]) -> Callable[..., Any]:
    """A route's endpoint or a dependency without its `Provided` parameters: they are looked up for each request.

    FastAPI would take as long for each of them as for a whole short dependency. Anything but a coroutine function is
    returned as it is.
    """
    if not inspect.iscoroutinefunction(function):
        return function
    signature = inspect.signature(function)
    kinds = {name: kind for name, each in signature.parameters.items() if (kind := _provided_kind(each.annotation))}
    if not kinds:
        return function
    others = [each for each in signature.parameters.values() if each.name not in kinds]
    own = next((each.name for each in others if each.annotation is Request), None)
    request_name = own or "request"

    @wraps(function)
    async def call_with_services(**values: Any) -> Any:
        request = values[request_name] if own else values.pop(request_name)
        services = services_of(request)
        return await function(**values, **{name: services[kind] for name, kind in kinds.items()})

    if own is None:
        others.append(inspect.Parameter(request_name, inspect.Parameter.KEYWORD_ONLY, annotation=Request))
    call_with_services.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
    return call_with_services


def _provided_kind(annotation: Any) -> Any:
    """The type of the service that a parameter asks for; None if it asks for something else."""
    kind, *marks = get_args(annotation) if get_origin(annotation) is Annotated else (None,)
    return kind if any(isinstance(each, _Provided) for each in marks) else None
