"""What the routes of one service share: one frozen value on `app.state`, put together by app/main.py.

Each package adds what its routes need to what the packages below it have, in a dataclass of its own (`services.py`).
So a route reads typed fields, and knows nothing of the packages above it.
"""

from dataclasses import dataclass
from typing import TypeVar

from fastapi import FastAPI, Request

from app.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Services:
    """What every route may read."""

    settings: Settings


S = TypeVar("S", bound=Services)


def share(app: FastAPI, services: Services) -> None:
    """Make these the services of the app's routes. A route finds none before the lifespan has begun."""
    app.state.services = services


def services_of(request: Request, kind: type[S]) -> S:
    """The services of the app that answers this request, as `kind` describes them."""
    services = request.app.state.services
    if not isinstance(services, kind):
        raise TypeError(f"{kind.__name__} is not part of {type(services).__name__}, which app/main.py puts together")
    return services
