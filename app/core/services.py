"""The services that the routes and the background work of one process share, found by their type.

A route asks for what it uses in its signature: `courses: Provided[Courses]`. A service is built when it is
first asked for, from its constructor's annotations, so only those that also need a value, such as a secret, are built
in app/entry/main.py. Why not a library: docs/decisions/0033-routes-say-what-they-use.md
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
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


def provided_kinds(endpoint: Callable[..., object]) -> dict[str, Any]:
    """The types of the services that an endpoint asks for, by the names of its parameters."""
    hints = get_type_hints(endpoint, include_extras=True)
    return {
        name: get_args(hint)[0]
        for name, hint in hints.items()
        if get_origin(hint) is Annotated and any(isinstance(each, _Provided) for each in get_args(hint)[1:])
    }
