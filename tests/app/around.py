"""An application of a test with what is around each request of the service."""

from fastapi import FastAPI

from app.core.background_loop import Activity
from app.core.services import Services, share
from app.core.settings import Settings
from app.core.web.proxies import Clients
from app.entry.around_requests import add_around_requests
from app.operations.operating.metrics import Metrics


def surround(app: FastAPI, **settings: object) -> None:
    chosen = Settings(**{"host": "testserver", **settings})
    share(app, Services(chosen))
    add_around_requests(app, chosen, Metrics(), Clients(is_public=False), Activity())
