"""Puts the service together. The only place that picks implementations; nothing here imports JAX."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from fastapi import FastAPI

from app.accounts import account_pages, provider_pages
from app.accounts import api as accounts_api
from app.accounts import pages as accounts_pages
from app.accounts.providers import build_providers
from app.accounts.service import Accounts
from app.attempts import api as attempts_api
from app.attempts import pages as attempts_pages
from app.attempts.service import AttemptLimits, Attempts
from app.data_folder import DataFolder
from app.database import Database
from app.error_responses import add_error_responses
from app.health import router as health_router
from app.migrate import migrate
from app.openapi import describe
from app.problems import api as problems_api
from app.problems import pages as problems_pages
from app.problems.service import Catalogue
from app.queue.embedded import EmbeddedQueue, QueueLimits
from app.queue.events import AttemptEvents
from app.queue.preparing import Preparing
from app.queue.protocol import Grader, WallReport
from app.queue.walls import Walls
from app.settings import Settings
from app.web import help as help_pages
from app.web.security import add_security_headers
from app.web.static_files import mount_static

if TYPE_CHECKING:
    from grader.sandbox.pool import PoolStats

_API = "/api/v1"
_DESCRIPTION = (
    "Practice problems in distributed JAX, graded. Send `Authorization: Bearer <token>`. "
    "Every error is `application/problem+json` (RFC 9457); match on its `slug`."
)


def _quiet(line: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Grading:
    """What grades: the judge, and the probe that proves its walls. Built from the data folder once that is held."""

    grader: Grader
    probe: Callable[[], Sequence[WallReport]]
    close: Callable[[], None] = lambda: None
    pool_stats: "Callable[[], PoolStats] | None" = None


def build_grading(data: DataFolder, settings: Settings) -> Grading:
    """The real judge in its sandbox."""
    from grader.judge import Judge
    from grader.sandbox.build import build_sandbox
    from grader.sandbox.doctor import probe_walls
    from grader.sandbox.pool import PoolSettings

    pool = PoolSettings(
        generic=settings.pool_generic,
        per_problem=settings.pool_per_problem,
        problems=settings.pool_problems,
        fillers=settings.grading_slots,
    )
    sandbox = build_sandbox(data.cache, isolation=settings.isolation, settings=pool)
    return Grading(
        # One try each: the queue counts them, over restarts and workers as well.
        Judge(sandbox, data.secret, data.cache, tries=1),
        lambda: probe_walls(settings.isolation),
        sandbox.close,
        sandbox.stats,
    )


def create_app(
    settings: Settings,
    *,
    grading: Callable[[DataFolder, Settings], Grading] = build_grading,
    say: Callable[[str], None] = _quiet,
) -> FastAPI:
    """The whole service as one ASGI application; its lifespan opens the data folder and starts the graders.

    Args:
      grading: builds the judge; tests give one that executes nothing.
      say: gets lines for the operator. Called from threads, too.
    Raises:
      StartRefused: from the lifespan, when the data folder or the database cannot be used.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with _open(app, settings, grading, say):
            yield

    app = FastAPI(
        title="Meshgrade",
        version="0.1.0",
        description=_DESCRIPTION,
        lifespan=lifespan,
        openapi_url="/openapi.json",
        # The interactive pages load their scripts from elsewhere, which the content security policy forbids.
        docs_url=None,
        redoc_url=None,
        # Its log records can hold request bodies, and those are people's submissions.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        redirect_slashes=False,
    )
    app.state.settings = settings
    add_error_responses(app)
    for api in (problems_api, attempts_api, accounts_api):
        app.include_router(api.router, prefix=_API)
    app.include_router(health_router)
    for pages in (problems_pages, attempts_pages, accounts_pages, provider_pages, account_pages, help_pages):
        app.include_router(pages.router)
    mount_static(app)
    describe(app)
    add_security_headers(app)
    return app


@asynccontextmanager
async def _open(
    app: FastAPI, settings: Settings, grading: Callable[[DataFolder, Settings], Grading], say: Callable[[str], None]
) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        data = stack.enter_context(DataFolder(settings.data))
        database = Database(settings.database)
        stack.push_async_callback(database.close)
        await migrate(database)
        catalogue = Catalogue.load(settings.problems)
        for fault in catalogue.faults:
            say(f"left out: {fault}")

        accounts = Accounts(
            database,
            session_life=timedelta(days=settings.session_days),
            link_life=timedelta(minutes=settings.sign_in_link_minutes),
            sign_up=settings.sign_up,
        )
        token = settings.owner_token
        await accounts.preset_token(await accounts.ensure_owner(), token.get_secret_value() if token else None)

        built = grading(data, settings)
        stack.callback(built.close)
        events, walls = AttemptEvents(), Walls(built.probe)
        queue = EmbeddedQueue(database, built.grader, catalogue, walls, events, _queue_limits(settings))
        preparing = Preparing(built.grader, walls, say)
        limits = AttemptLimits(settings.max_source_bytes, settings.max_waiting_per_user)
        app.state.database = database
        app.state.accounts = accounts
        app.state.providers = build_providers(settings)
        app.state.catalogue = catalogue
        app.state.walls = walls
        app.state.warm = built.grader.warm
        app.state.pool_stats = built.pool_stats
        app.state.queue = queue
        app.state.events = events
        app.state.attempts = Attempts(database, catalogue, queue, events, walls, limits)

        tasks = [asyncio.create_task(queue.work()), asyncio.create_task(preparing.run(catalogue.all()))]
        try:
            yield
        finally:
            events.close()
            preparing.stop()
            await queue.stop()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _queue_limits(settings: Settings) -> QueueLimits:
    return QueueLimits(
        slots=settings.grading_slots, lease_s=settings.lease_s, max_tries=settings.max_tries, sole=settings.sole
    )
