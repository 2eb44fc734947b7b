"""The values that the routes of one service share: a frozen dataclass on `app.state`, which app/main.py builds.

In its `services.py`, each package adds the fields that its routes need to those of the packages below it. So a route
reads typed fields, and does not depend on the packages above it.
"""

from dataclasses import dataclass
from typing import TypeVar

from fastapi import FastAPI, Request

from app.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Services:
    """The values that every route may read."""

    settings: Settings


S = TypeVar("S", bound=Services)


def share(app: FastAPI, services: Services) -> None:
    """Give the app's routes these services. Before the lifespan has begun, a route finds none."""
    app.state.services = services


def services_of(request: Request, kind: type[S]) -> S:
    """The services of the app that handles this request, with the type `kind`."""
    services = request.app.state.services
    if not isinstance(services, kind):
        raise TypeError(f"{kind.__name__} is not part of {type(services).__name__}, which app/main.py builds")
    return services
