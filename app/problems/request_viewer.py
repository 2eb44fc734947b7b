"""Finds the viewer of each request, before any route reads the catalogue."""

import contextlib
from functools import partial
from typing import Protocol

from fastapi import FastAPI, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.accounts.caller import GUEST_ID, Caller, User
from app.accounts.roles import is_at_least
from app.accounts.web import client_address, current_caller
from app.core.errors import Refused
from app.core.services import services_of
from app.problems.catalogue import Catalogue
from app.problems.variants import VariantDraws
from app.problems.viewer import Viewer, viewed_by


class PrivateProblems(Protocol):
    async def seen_by(self, user: User, address: str) -> dict[str, str]:
        """The version of each problem that this user sees now because of one of their courses, by slug."""
        ...


class RequestViewer:
    """ASGI wrapper. A request that its route will refuse, such as one with a bad token, is a visitor's here."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        with viewed_by(await _viewer_of(Request(scope))):
            await self.app(scope, receive, send)


def add_request_viewer(app: FastAPI) -> None:
    """Call it before the first request."""
    app.add_middleware(RequestViewer)


async def _viewer_of(request: Request) -> Viewer:
    address, services = client_address(request), services_of(request)
    catalogue = services[Catalogue]
    # Most services have neither, and then nobody has to be found in the database.
    if not (catalogue.has_private or catalogue.has_variants):
        return Viewer(address)
    caller: Caller | None = None
    with contextlib.suppress(Refused):
        caller = await current_caller(request)
    # All guests are one account, and get the same variant.
    in_own_variant = partial(services[VariantDraws].seen_by, caller.user.id if caller else GUEST_ID)
    if caller is None:
        return Viewer(address, in_own_variant=in_own_variant)
    versions = await services[PrivateProblems].seen_by(caller.user, address) if catalogue.has_private else {}
    is_staff = is_at_least(caller.user.role, "instructor")
    return Viewer(address, catalogue.private(versions, is_staff=is_staff), is_staff, in_own_variant)
