"""Assembles the service. Only this module picks implementations. It never imports JAX."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI
from sqlalchemy.ext.asyncio import AsyncSession

from app.accounts.providers import build_providers
from app.accounts.service import Accounts
from app.accounts.sign_up_brake import SignUpLimits
from app.attempts.durations import Durations
from app.attempts.give_up import GiveUps
from app.attempts.guests import forget_guests
from app.attempts.service import AttemptLimits, Attempts
from app.attempts.shares import Shares
from app.audit.log import AuditLog
from app.authoring.service import Authoring
from app.authoring.services import AuthoringServices
from app.authoring.validations import Validations
from app.authoring.validator import Validator
from app.comments.service import Comments
from app.courses.announcements import Announcements
from app.courses.assignments import AssignmentChanges
from app.courses.assisting import CourseAssistance
from app.courses.extensions import Extensions
from app.courses.limits import CourseGate
from app.courses.roster import Rosters
from app.courses.service import Courses
from app.data_folder import DataFolder
from app.database import Database
from app.insight.service import Insight
from app.insight.services import InsightServices
from app.lti.keys import ToolKeys
from app.lti.launches import Launches
from app.lti.linked import LinkedCourses
from app.lti.platforms import Platforms
from app.lti.requests import PlatformRequests
from app.lti.scores import ScoreSender, queue_scores
from app.lti.selections import Selections
from app.lti.services import LTIServices
from app.migrate import migrate
from app.operating.metrics import Metrics
from app.operating.services import OperatingServices
from app.operating.steps import step_log
from app.operating.tally import Tally
from app.people.changes import PeopleChanges
from app.people.listing import Directory
from app.people.merge import Merging
from app.people.services import PeopleServices
from app.problems.service import Catalogue
from app.problems.serving import Serving
from app.problems.store import PackageStore
from app.queue.deployment import share_secret, shared_secret
from app.queue.embedded import EmbeddedQueue
from app.queue.events import AttemptEvents
from app.queue.preparing import Preparing
from app.queue.procrastinate import ProcrastinateQueue
from app.queue.protocol import GradeQueue, Grader, QueueHooks, QueueLimits, WallReport
from app.queue.shared_events import SharedEvents
from app.queue.walls import Walls
from app.rejudging.draw import draw_of
from app.rejudging.pump import RejudgePump
from app.rejudging.service import Rejudging
from app.rejudging.services import RejudgingServices
from app.rest.openapi import operation_id
from app.rest.rate_limit import RateLimit
from app.routes import add_routes
from app.services import share
from app.settings import Settings
from app.similarity.service import Similarity
from app.similarity.services import SimilarityServices
from app.start_errors import SettingInvalid
from app.version import VERSION
from app.webhooks.outside import Outside
from app.webhooks.sender import WebhookSender
from app.webhooks.service import Webhooks, queue_deliveries
from app.webhooks.services import WebhookServices
from app.workbench.drafts import Drafts
from app.workbench.reports import FaultReports
from grader.package.package import Package

if TYPE_CHECKING:
    from grader.sandbox.pool import PoolStats

log = logging.getLogger(__name__)

_LOOK_FOR_SECRET_S = 2.0
_DESCRIPTION = (
    "Practice problems in distributed JAX, with a grader. Send `Authorization: Bearer <token>`. "
    "Every error is `application/problem+json` (RFC 9457). Match on its `slug`."
)


async def _on_finished(session: AsyncSession, attempt_id: str) -> None:
    await queue_deliveries(session, attempt_id)
    await queue_scores(session, attempt_id)


_HOOKS = QueueHooks(on_finished=_on_finished, draw_of=draw_of)


def _quiet(line: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Grading:
    """The judge, and the probe that tests its walls. Built from the data folder once that is locked."""

    grader: Grader
    probe: Callable[[], Sequence[WallReport]]
    close: Callable[[], None] = lambda: None
    pool_stats: "Callable[[], PoolStats] | None" = None


@dataclass(frozen=True, kw_only=True)
class AllServices(
    InsightServices,
    LTIServices,
    SimilarityServices,
    AuthoringServices,
    RejudgingServices,
    WebhookServices,
    OperatingServices,
    PeopleServices,
):
    """The values that all routes of the service share."""


def build_grading(data: DataFolder, settings: Settings) -> Grading:
    """The real judge in its sandbox."""
    from app.judging import build_judging

    judging = build_judging(settings, data.cache, data.secret, alone=False)
    return Grading(judging.judge, judging.probe, judging.close, judging.pool_stats)


def create_app(
    settings: Settings,
    *,
    grading: Callable[[DataFolder, Settings], Grading] = build_grading,
    say: Callable[[str], None] = _quiet,
) -> FastAPI:
    """Build the whole service as one ASGI application. Its lifespan opens the data folder and starts the graders.

    Args:
      grading: builds the judge. Tests pass one that executes nothing.
      say: receives lines for the operator. Several threads may call it.
    Raises:
      StartRefused: from the lifespan, if the data folder or the database cannot be used.
    """

    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with _open(app, settings, grading, say, metrics):
            yield

    app = FastAPI(
        title="Meshgrade",
        version=VERSION,
        description=_DESCRIPTION,
        lifespan=lifespan,
        openapi_url="/openapi.json",
        generate_unique_id_function=operation_id,
        # The interactive pages load scripts from other sites, which the content security policy forbids.
        docs_url=None,
        redoc_url=None,
        # Its log records can contain request bodies, which are people's submissions.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        redirect_slashes=False,
    )
    add_routes(app, metrics)
    return app


@asynccontextmanager
async def _open(
    app: FastAPI,
    settings: Settings,
    grading: Callable[[DataFolder, Settings], Grading],
    say: Callable[[str], None],
    metrics: Metrics,
) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        data = stack.enter_context(DataFolder(settings.data))
        database = Database(settings.database)
        stack.push_async_callback(database.close)
        await migrate(database)
        if database.shared:
            data.secret = await share_secret(database, data.secret)
        catalogue = Catalogue.load(settings.problems, settings.ceiling)
        for fault in catalogue.faults:
            say(f"skipped: {fault}")
        store = PackageStore(database)
        await store.publish_folder(catalogue.all())
        serving = Serving(catalogue, store)
        await serving.refresh()
        for unknown in (*catalogue.unknown_prerequisites(), *catalogue.unknown_in_tracks()):
            say(unknown)

        accounts = Accounts(
            database,
            session_life=timedelta(days=settings.session_days),
            link_life=timedelta(minutes=settings.sign_in_link_minutes),
            confirm_after=timedelta(minutes=settings.confirm_after_minutes),
            sign_up=settings.sign_up,
            sign_up_limits=SignUpLimits(settings.sign_ups_per_address, settings.sign_ups_in_total),
        )
        token = settings.owner_token
        await accounts.preset_token(await accounts.ensure_owner(), token.get_secret_value() if token else None)

        built = grading(data, settings) if settings.grading_slots else None
        if built is not None:
            stack.callback(built.close)
        walls = Walls(built.probe) if built else Walls.elsewhere()
        events = pick_events(database, settings)
        queue = pick_queue(database, built, store, walls, events, settings)
        limits = AttemptLimits(
            settings.max_source_bytes,
            settings.max_waiting_per_user,
            settings.guest_runs_per_address,
            settings.guest_runs_in_total,
        )
        validations = Validations(database)
        courses = Courses(database)
        lti_keys = ToolKeys(database, data.secret)
        lti_platforms = Platforms(database, accounts.recent, private=settings.lti_private)
        lti_requests = PlatformRequests(Outside(private=settings.lti_private), lti_keys)
        preparing = [] if built is None else [(_preparing(built, walls, settings, say), catalogue.all())]
        share(
            app,
            AllServices(
                settings=settings,
                database=database,
                queue=queue,
                accounts=accounts,
                providers=build_providers(settings),
                rate_limit=RateLimit(settings.requests_per_minute),
                audit=AuditLog(database),
                directory=Directory(database),
                assistance=CourseAssistance(database),
                people=PeopleChanges(database, accounts),
                merging=Merging(database, accounts.recent),
                similarity=Similarity(database, catalogue),
                insight=Insight(database),
                courses=courses,
                assignments=AssignmentChanges(database, catalogue),
                announcements=Announcements(database),
                extensions=Extensions(database),
                rosters=Rosters(database, accounts.invitations),
                lti_keys=lti_keys,
                lti_platforms=lti_platforms,
                lti_launches=Launches(
                    database, accounts, catalogue, lti_platforms, lti_requests, data.secret, settings.site
                ),
                lti_linked=LinkedCourses(database, accounts, lti_platforms, lti_requests),
                lti_selections=Selections(database, courses, catalogue, lti_platforms, lti_requests, settings.site),
                comments=Comments(database),
                catalogue=catalogue,
                packages=store,
                attempts=Attempts(database, catalogue, queue, events, walls, limits, CourseGate()),
                give_ups=GiveUps(database, catalogue),
                shares=Shares(database),
                durations=Durations(database),
                drafts=Drafts(database, catalogue, settings.max_source_bytes),
                reports=FaultReports(database, catalogue),
                warm=built.grader.warm if built else _warm_nothing,
                preparation=preparing[0][0].state if preparing else None,
                authoring=Authoring(database, store, serving, validations, walls, settings.ceiling),
                rejudging=Rejudging(database, store, queue, walls),
                webhooks=Webhooks(database, data.secret, private=settings.webhooks_private),
                metrics=metrics,
                tally=Tally(database),
                walls=walls,
                pool_stats=built.pool_stats if built else None,
            ),
        )
        pump = RejudgePump(database, queue, _HOOKS)
        sender = WebhookSender(database, data.secret, Outside(private=settings.webhooks_private))
        scores = ScoreSender(database, courses, lti_platforms, lti_requests)
        parts = [sender.run(), scores.run(), serving.run(), pump.run(), forget_guests(database)]
        if built is not None:
            parts.append(_validator(database, validations, built, store, walls, settings).run())
        async with _working(queue, events, preparing, parts, grace_s=0.0):
            yield


@asynccontextmanager
async def open_worker(
    settings: Settings,
    folder: Path,
    *,
    grading: Callable[[DataFolder, Settings], Grading] = build_grading,
    say: Callable[[str], None] = _quiet,
) -> AsyncIterator[None]:
    """Run a worker: a process that grades and serves nothing. On exit it drains.

    Args:
      folder: a private folder for its caches.
    Raises:
      StartRefused: the database or the folder cannot be used, or a wall is missing.
    """
    async with AsyncExitStack() as stack:
        data = stack.enter_context(DataFolder(folder))
        database = Database(settings.database)
        stack.push_async_callback(database.close)
        await migrate(database)
        data.secret = await _wait_for_secret(database, say)
        built = grading(data, settings)
        stack.callback(built.close)
        walls = Walls(built.probe)
        await asyncio.to_thread(walls.probe)
        walls.require_at_start()
        store, events = PackageStore(database), pick_events(database, settings)
        queue = pick_queue(database, built, store, walls, events, settings)
        packages = [await store.get(version) for version in (await store.published()).values()]
        preparing = [(_preparing(built, walls, settings, say), packages)]
        validator = _validator(database, Validations(database), built, store, walls, settings)
        async with _working(queue, events, preparing, [validator.run()], grace_s=settings.drain_s):
            yield


@asynccontextmanager
async def _working(
    queue: GradeQueue,
    events: AttemptEvents,
    preparing: list[tuple[Preparing, list[Package]]],
    further: list[Coroutine[None, None, None]],
    *,
    grace_s: float,
) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(each) for each in (queue.work(), events.run(), *further)]
    tasks += [asyncio.create_task(each.run(packages)) for each, packages in preparing]
    for task in tasks:
        task.add_done_callback(_log_failure)
    try:
        yield
    finally:
        events.close()
        for each, _ in preparing:
            each.stop()
        await queue.stop(grace_s=grace_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _log_failure(task: asyncio.Task[None]) -> None:
    """No part should end by itself. Without this, nobody would notice until the service stops."""
    if not task.cancelled() and (error := task.exception()):
        log.critical("a part of the service ended: %s", task.get_coro(), exc_info=error)


async def _wait_for_secret(database: Database, say: Callable[[str], None]) -> bytes:
    """The deployment secret, once the server has stored it. A worker never draws one, or it would override that."""
    announced = False
    while (secret := await shared_secret(database)) is None:
        if not announced:
            say("Waiting for the server to start on this database for the first time.")
            announced = True
        await asyncio.sleep(_LOOK_FOR_SECRET_S)
    return secret


def pick_events(database: Database, settings: Settings) -> AttemptEvents:
    events = SharedEvents(database) if database.shared else AttemptEvents()
    events.watch_here(step_log(settings.worker_name))
    return events


def pick_queue(
    database: Database,
    built: Grading | None,
    store: PackageStore,
    walls: Walls,
    events: AttemptEvents,
    settings: Settings,
) -> GradeQueue:
    """The queue that this database requires.

    Raises:
      SettingInvalid: nothing would be graded.
    """
    limits = _queue_limits(settings)
    if database.shared:
        grader = built.grader if built else None
        return ProcrastinateQueue(database, grader, store, walls, events, limits, hooks=_HOOKS)
    if built is None:
        raise SettingInvalid("grading_slots", "0 requires PostgreSQL, because with SQLite no other process can grade")
    return EmbeddedQueue(database, built.grader, store, walls, events, limits, sole=settings.sole, hooks=_HOOKS)


def _preparing(built: Grading, walls: Walls, settings: Settings, say: Callable[[str], None]) -> Preparing:
    return Preparing(built.grader, walls, say, at_once=settings.grading_slots)


def _validator(
    database: Database, validations: Validations, built: Grading, store: PackageStore, walls: Walls, settings: Settings
) -> Validator:
    return Validator(
        database,
        validations,
        built.grader,
        store,
        walls,
        lease_s=settings.lease_s,
        max_deaths=settings.max_deaths,
    )


def _warm_nothing(package: Package) -> None:
    pass


def _queue_limits(settings: Settings) -> QueueLimits:
    return QueueLimits(
        slots=settings.grading_slots,
        lease_s=settings.lease_s,
        retry_s=settings.retry_s,
        max_tries=settings.max_tries,
        max_deaths=settings.max_deaths,
    )
