"""Assembles the service; app/entry/worker.py assembles a worker. Only these and app/entry/assembly.py pick
implementations. None of them imports JAX."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from fastapi import FastAPI

from app.accounts.providers import build_providers
from app.accounts.request_limits import RequestCounts
from app.accounts.service import Accounts
from app.accounts.sign_up_brake import SignUpLimits
from app.authoring.repositories.service import Repositories
from app.authoring.repositories.sync_runner import Syncs
from app.authoring.service import Authoring
from app.authoring.validations import Validations
from app.authoring.validator import Validator
from app.core.background_loop import Activity, Loop
from app.core.data_folder import DataFolder
from app.core.database import Database
from app.core.mail import Mailer, build_mailer
from app.core.migrate import require_schema
from app.core.neighbours import Neighbours
from app.core.outbound_requests import Outside
from app.core.rest.openapi import operation_id
from app.core.services import Services, share
from app.core.settings import Settings
from app.core.start_errors import SettingInvalid
from app.core.version import VERSION
from app.core.web.proxies import Clients
from app.entry.assembly import (
    HOOKS,
    Grading,
    build_grading,
    jobs_of,
    notice_ends,
    pick_events,
    pick_queue,
    preparing_of,
    process_of,
    quiet,
    share_answers,
    workers_of,
    working,
)
from app.entry.routes import add_routes
from app.grading.attempts.overrides import Overrides
from app.grading.attempts.service import Attempts
from app.grading.attempts.views import AttemptViews
from app.grading.owned_work import WorkLimits, forgetting
from app.grading.queue.deployment_secret import share_secret
from app.grading.queue.events import WorkEvents
from app.grading.queue.judge_of_neighbour import JudgeOfNeighbour, serve_neighbours
from app.grading.queue.local_judge import LocalJudge
from app.grading.queue.preparation import Preparer
from app.grading.queue.protocol import Enqueue, GradeQueue
from app.grading.queue.server_code import announce_code
from app.grading.queue.walls import Walls
from app.learning.completions.badges import Badges
from app.learning.interviews.service import Interviews
from app.learning.lessons.lesson_files import Lessons
from app.learning.lessons.reading import LessonReads
from app.learning.workbench.drafts import Drafts
from app.learning.workbench.formatting import Formatter
from app.operations.help.rest_reference import RestOperations
from app.operations.operating.attempt_statistics import AttemptStatistics
from app.operations.operating.metrics import Metrics
from app.operations.operating.service_state import warnings_of
from app.operations.webhooks.sender import WebhookSender
from app.operations.webhooks.service import Webhooks
from app.problems.catalogue import Catalogue
from app.problems.catalogue_refresh import CatalogueRefresh
from app.problems.exams import EveryExam, Exams
from app.problems.package_store import PackageStore
from app.problems.rendered_texts import RenderedTexts
from app.problems.request_viewer import PrivateProblems
from app.problems.variants import VariantDraws
from app.teaching.courses.assistant_access import CourseAssistance
from app.teaching.courses.attempt_limits import CourseGate
from app.teaching.courses.cells import Cells
from app.teaching.courses.course_problems import CourseProblems
from app.teaching.courses.exam_pools import ExamPools
from app.teaching.courses.exams import OpenExams
from app.teaching.courses.roster_lines import RosterLines, bind_invited_in
from app.teaching.courses.roster_links import RosterLinks
from app.teaching.courses.roster_mails import RosterMailSender
from app.teaching.courses.service import Courses
from app.teaching.identities.identity import RosterIdentities
from app.teaching.insight.misconception_backfill import MisconceptionBackfill
from app.teaching.lti.keys import ToolKeys
from app.teaching.lti.launches import Launches
from app.teaching.lti.line_items import LineItems
from app.teaching.lti.platform_requests import PlatformRequests
from app.teaching.lti.platforms import Platforms
from app.teaching.lti.registrations import Registrations
from app.teaching.lti.scores import ScoreSender, queue_scores_of
from app.teaching.lti.selections import Selections
from app.teaching.people.assistance import Assistance
from app.teaching.rejudging.pump import RejudgePump
from app.teaching.retention import Retention, RetentionRules
from app.teaching.search.section_search import SectionSearch
from grader.package.package import Package

_DESCRIPTION = (
    "Practice problems in distributed JAX, with a grader. Send `Authorization: Bearer <token>`. "
    "Every error is `application/problem+json` (RFC 9457). Match on its `slug`."
)


def create_app(
    settings: Settings,
    *,
    grading: Callable[[DataFolder, Settings], Grading] = build_grading,
    say: Callable[[str], None] = quiet,
    neighbours: Neighbours | None = None,
) -> FastAPI:
    """Build the whole service as one ASGI application. Its lifespan opens the data folder and starts the graders.

    Args:
      grading: builds the judge. Tests pass one that executes nothing.
      say: receives lines for the operator. Several threads may call it.
      neighbours: the other processes of this server, if there are any.
    Raises:
      StartRefused: from the lifespan, if the data folder or the database cannot be used.
    """

    beside = neighbours or Neighbours()
    metrics = Metrics(beside.number if settings.api_processes > 1 else None)
    clients, activity = Clients(is_public=settings.public_url is not None), Activity()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with _open(app, settings, grading, say, metrics, clients, activity, beside):
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
    add_routes(app, metrics, clients, activity, settings)
    return app


@dataclass(frozen=True, slots=True)
class _Content:
    """What can be read and solved here: problems and lessons."""

    store: PackageStore
    texts: RenderedTexts
    catalogue: Catalogue
    serving: CatalogueRefresh
    lessons: Lessons


@dataclass(frozen=True, slots=True)
class _Judging:
    """The queue, and the judge if this process grades."""

    built: Grading | None
    validator: Validator | None
    preparing: list[tuple[Preparer, list[Package]]]
    walls: Walls
    events: WorkEvents
    queue: GradeQueue


@asynccontextmanager
async def _open(
    app: FastAPI,
    settings: Settings,
    grading: Callable[[DataFolder, Settings], Grading],
    say: Callable[[str], None],
    metrics: Metrics,
    clients: Clients,
    activity: Activity,
    neighbours: Neighbours,
) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        data, database = await _open_database(stack, settings, say, neighbours)
        content = await _open_content(database, settings, say, neighbours)
        accounts = await _open_accounts(database, settings)
        judging = _build_judging(stack, data, database, content, settings, grading, say, neighbours)
        # A process that does not grade has no walls of its own. It only knows those of the first process.
        own_walls = judging.walls if judging.built else Walls.elsewhere()
        workers = workers_of(
            *(database, judging.built, own_walls, judging.preparing, settings, lambda: warnings_of(clients)),
            is_first=neighbours.is_first,
        )
        services = Services(settings, database, accounts, workers, metrics, clients, neighbours, RestOperations(app))
        _add_services(services, data.secret, content, judging)
        _add_platforms(services, data.secret)
        share(app, services)
        loops = _loops(services, data.secret, judging)
        activity.watch(*loops)
        notice_ends(judging.events, activity)
        await announce_code(database, process_of(settings).code)
        async with working(judging.queue, judging.events, workers, judging.preparing, loops, grace_s=0.0):
            yield


async def _open_content(
    database: Database, settings: Settings, say: Callable[[str], None], neighbours: Neighbours
) -> _Content:
    store, texts = PackageStore(database), RenderedTexts(database)
    catalogue, lessons = _load_content(settings, say)
    await _refuse_to_empty(store, catalogue, settings)
    await store.publish_folder(catalogue.all())
    serving = CatalogueRefresh(catalogue, store, neighbours)
    await texts.forget_older()
    await serving.refresh()
    for unknown in (*catalogue.unknown_prerequisites(), *catalogue.unknown_in_tracks()):
        say(unknown)
    for unknown in lessons.unknown_problems(package.slug for package in catalogue.all()):
        say(unknown)
    return _Content(store, texts, catalogue, serving, lessons)


def _build_judging(
    stack: AsyncExitStack,
    data: DataFolder,
    database: Database,
    content: _Content,
    settings: Settings,
    grading: Callable[[DataFolder, Settings], Grading],
    say: Callable[[str], None],
    neighbours: Neighbours,
) -> _Judging:
    built = grading(data, settings) if settings.grading_slots else None
    if built is not None:
        stack.callback(built.close)
        share_answers(built, database)
    walls = Walls(built.probe) if built else Walls.elsewhere()
    events = pick_events(database, settings, neighbours)
    validator = Validator(database, built.grader, content.store, walls) if built else None
    jobs = jobs_of(validator, built, content.store) if built and validator else []
    queue = pick_queue(database, built, content.store, walls, events, settings, jobs, neighbours)
    preparing = [] if built is None else [(preparing_of(built, walls, settings, say), content.catalogue.by_place())]
    return _Judging(built, validator, preparing, walls, events, queue)


def _add_services(services: Services, secret: bytes, content: _Content, judging: _Judging) -> None:
    """Add what needs more than other services to be built, and pick one for each protocol."""
    settings, database, accounts = services[Settings], services[Database], services[Accounts]
    store, texts, catalogue, serving = content.store, content.texts, content.catalogue, content.serving
    walls, queue = judging.walls, judging.queue
    judge = _local_judge(judging, services[Neighbours])
    limits = WorkLimits.of(settings)
    services.provide(Enqueue, queue.enqueue)
    services.provide(WorkEvents, judging.events)
    services.add(
        *(store, texts, catalogue, serving, content.lessons, walls),
        *(accounts.recent, accounts.invitations, build_providers(settings), AttemptStatistics(database)),
        *(limits, RequestCounts(settings.requests_per_minute)),
        Attempts(
            *(database, catalogue, AttemptViews(catalogue), queue, judging.events, walls, limits),
            CourseGate(),
            judge.next_draw,
        ),
        Overrides(database, HOOKS.on_finished),
        Cells(database, queue_scores_of),
        Formatter(),
        Drafts(database, catalogue, settings.max_source_bytes),
        LessonReads(database),
        Authoring(database, store, texts, serving, services[Validations], walls, settings.ceiling),
        Repositories(database, secret, settings),
        Webhooks(database, secret, private=settings.webhooks_private),
        ToolKeys(database, secret),
        Badges(database, secret),
        *(RosterLinks(secret), build_mailer(settings)),
        *(ExamPools(secret), VariantDraws(secret)),
        Platforms(database, accounts.recent, private=settings.lti_private),
        judge,
    )
    accounts.on_invited = bind_invited_in
    services.provide(GradeQueue, queue)
    services.provide(Exams, EveryExam(services[OpenExams], services[Interviews]))
    services.provide(Assistance, services[CourseAssistance])
    services.provide(RosterIdentities, services[RosterLines])
    services.provide(PrivateProblems, services[CourseProblems])


def _add_platforms(services: Services, secret: bytes) -> None:
    """Add what talks to learning platforms."""
    settings, database, catalogue = services[Settings], services[Database], services[Catalogue]
    accounts, courses, platforms = services[Accounts], services[Courses], services[Platforms]
    requests = PlatformRequests(Outside(private=settings.lti_private), services[ToolKeys])
    line_items = LineItems(database, courses, catalogue, requests)
    services.add(
        requests,
        Launches(database, accounts, catalogue, platforms, requests, line_items, secret, settings.site),
        Registrations(database, accounts.recent, platforms, requests, secret, settings.site),
        Selections(database, courses, catalogue, platforms, requests, settings.site),
    )


def _loops(services: Services, secret: bytes, judging: _Judging) -> list[Loop]:
    """The background work of this process, without grading."""
    settings, database = services[Settings], services[Database]
    return [
        *_webhook_loops(services, database, secret),
        ScoreSender(database, services[Courses], services[Platforms], services[PlatformRequests]).outbox.loop,
        *_mail_loops(services, database),
        services[Accounts].uses.loop,
        *services[CatalogueRefresh].loops,
        services[SectionSearch].loop,
        *services[Syncs].loops,
        RejudgePump(database, judging.queue, HOOKS).loop,
        *_retention(database, judging.queue, settings),
        MisconceptionBackfill(database, services[PackageStore]).loop,
        forgetting(database),
        *([judging.validator.loop] if judging.validator else []),
        *([_serve_neighbours(services)] if judging.built else []),
    ]


def _serve_neighbours(services: Services) -> Loop:
    return serve_neighbours(services[Neighbours], services[LocalJudge], services[Walls], services[Catalogue].version)


def _retention(database: Database, queue: GradeQueue, settings: Settings) -> list[Loop]:
    rules = RetentionRules(settings.runs_kept_days, settings.people_kept_days)
    return [] if rules == RetentionRules() else [Retention(database, queue, rules).loop]


def _webhook_loops(services: Services, database: Database, deployment_secret: bytes) -> list[Loop]:
    outside = Outside(private=services[Settings].webhooks_private)
    return WebhookSender(database, deployment_secret, outside, services[AttemptViews]).loops


def _mail_loops(services: Services, database: Database) -> list[Loop]:
    links, mailer = services[RosterLinks], services[Mailer]
    return [RosterMailSender(database, links, mailer).outbox.loop] if mailer.is_on else []


async def _open_database(
    stack: AsyncExitStack, settings: Settings, say: Callable[[str], None], neighbours: Neighbours
) -> tuple[DataFolder, Database]:
    data = stack.enter_context(DataFolder(settings.data, locks=neighbours.is_first))
    database = Database(settings.database, connections=settings.database_connections)
    stack.push_async_callback(database.close)
    if await require_schema(database):
        say(f"This is a new service: the database {database.name} was empty.")
    if database.shared:
        data.use_secret(await share_secret(database, data.secret))
    return data, database


async def _refuse_to_empty(store: PackageStore, catalogue: Catalogue, settings: Settings) -> None:
    """Raises `SettingInvalid` if the folder has no problem and the service had some from one: that is a typo."""
    if not catalogue.all() and (served := await store.count_from_folders()):
        raise SettingInvalid(
            "problems",
            f"{settings.problems.absolute()} has no problem that can be served, and this service had {served} from a "
            "folder, which would be gone. Name the right folder. If you mean it, keep at least one problem",
        )


def _load_content(settings: Settings, say: Callable[[str], None]) -> tuple[Catalogue, Lessons]:
    catalogue = Catalogue.load(settings.problems, settings.ceiling)
    if not catalogue.all():
        say(f"There is no problem in {settings.problems}.")
    lessons = Lessons.load(settings.lessons)
    for fault in (*catalogue.faults, *lessons.faults):
        say(f"skipped: {fault}")
    return catalogue, lessons


async def _open_accounts(database: Database, settings: Settings) -> Accounts:
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
    return accounts


def _local_judge(judging: _Judging, neighbours: Neighbours) -> LocalJudge:
    if (built := judging.built) is None:
        return LocalJudge() if neighbours.is_first else JudgeOfNeighbour(neighbours, judging.walls).as_local()
    [(own, _)] = judging.preparing
    grader = built.grader

    def warm(package: Package) -> None:
        own.ask(package)
        grader.warm(package)

    return LocalJudge(warm, own.state, built.pool_stats or (lambda: None), grader.next_draw)
