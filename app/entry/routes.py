"""Every route of the service, and the layers around all of them: errors, headers, the request log."""

from collections.abc import AsyncIterator
from types import ModuleType

from fastapi import Depends, FastAPI, Request

from app.accounts import account_pages, confirm_pages, invitation_pages, provider_pages, token_pages
from app.accounts import api as accounts_api
from app.accounts import pages as accounts_pages
from app.accounts.audit import api as audit_api
from app.accounts.audit import pages as audit_pages
from app.accounts.request_limits import limit_rate
from app.accounts.web import reader_of
from app.authoring import api as authoring_api
from app.authoring import pages as authoring_pages
from app.authoring.repositories import api as repositories_api
from app.authoring.repositories import pages as repositories_pages
from app.core.background_loop import Activity
from app.core.database import Database
from app.core.rest.actions import Actions
from app.core.rest.error_responses import add_error_responses
from app.core.rest.openapi import describe
from app.core.rest.routing import PageRouter, RestRouter
from app.core.services import Provided
from app.core.settings import Settings
from app.core.web.proxies import Clients
from app.core.web.static_files import mount_static
from app.core.web.templating import compile_pages
from app.entry.around_requests import add_around_requests
from app.grading.attempts import api as attempts_api
from app.grading.attempts import batch_api, comment_api
from app.grading.attempts import pages as attempts_pages
from app.learning.browse import pages as browse_pages
from app.learning.browse import progress_pages, theme_pages
from app.learning.calculators import api as calculators_api
from app.learning.calculators import pages as calculators_pages
from app.learning.completions import api as completions_api
from app.learning.completions import pages as completions_pages
from app.learning.explorer import api as explorer_api
from app.learning.explorer import pages as explorer_pages
from app.learning.interviews import api as interviews_api
from app.learning.interviews import pages as interviews_pages
from app.learning.lessons import api as lessons_api
from app.learning.lessons import pages as lessons_pages
from app.learning.workbench import api as workbench_api
from app.learning.workbench import give_up_pages, report_pages, reports_api, restore_pages, solutions_pages
from app.learning.workbench import pages as workbench_pages
from app.operations.help import pages as help_pages
from app.operations.operating import api as operating_api
from app.operations.operating import health, state_pages
from app.operations.operating.metrics import Metrics
from app.operations.personal_data import api as personal_data_api
from app.operations.personal_data import pages as personal_data_pages
from app.operations.webhooks import api as webhooks_api
from app.problems import api as problems_api
from app.problems.request_viewer import add_request_viewer
from app.teaching.courses import api as courses_api
from app.teaching.courses import (
    assignment_pages,
    category_pages,
    cell_pages,
    course_audit_pages,
    course_copy_pages,
    course_export_pages,
    course_pages,
    course_problem_pages,
    course_settings_pages,
    exam_pages,
    extension_pages,
    gradebook_pages,
    roster_api,
    roster_pages,
    roster_people_pages,
    section_pages,
)
from app.teaching.courses import pages as courses_pages
from app.teaching.insight import api as insight_api
from app.teaching.insight import pages as insight_pages
from app.teaching.lti import pages as lti_pages
from app.teaching.lti import platform_pages as lti_platform_pages
from app.teaching.lti import registration_pages as lti_registration_pages
from app.teaching.overview import pages as overview_pages
from app.teaching.people import (
    account_actions,
    attempt_api,
    attempt_pages,
    erase_pages,
    grading_pages,
    merge_pages,
    review_pages,
)
from app.teaching.people import api as people_api
from app.teaching.people import pages as people_pages
from app.teaching.rejudging import api as rejudging_api
from app.teaching.rejudging import pages as rejudging_pages
from app.teaching.search import pages as search_pages
from app.teaching.similarity import api as similarity_api
from app.teaching.similarity import pages as similarity_pages

_API = "/api/v1"
# Each module that has routes, by room. Its routers are found by their types, and their order does not matter:
# tests/app/entry/test_routes.py fails if a route hides another one, or if a module is missing.
_PROBLEMS = (problems_api,)
_GRADING = (attempts_api, attempts_pages, batch_api, comment_api)
_LEARNING = (
    browse_pages,
    progress_pages,
    theme_pages,
    workbench_api,
    workbench_pages,
    give_up_pages,
    report_pages,
    reports_api,
    restore_pages,
    solutions_pages,
    lessons_api,
    lessons_pages,
    explorer_api,
    explorer_pages,
    completions_api,
    completions_pages,
    interviews_api,
    interviews_pages,
    calculators_api,
    calculators_pages,
)
_ACCOUNTS = (
    accounts_api,
    accounts_pages,
    account_pages,
    token_pages,
    provider_pages,
    confirm_pages,
    invitation_pages,
    audit_api,
    audit_pages,
)
_TEACHING = (
    courses_api,
    courses_pages,
    course_pages,
    course_settings_pages,
    course_copy_pages,
    course_problem_pages,
    course_export_pages,
    course_audit_pages,
    assignment_pages,
    exam_pages,
    extension_pages,
    section_pages,
    category_pages,
    gradebook_pages,
    cell_pages,
    roster_api,
    roster_pages,
    roster_people_pages,
    overview_pages,
    people_api,
    people_pages,
    account_actions,
    attempt_api,
    attempt_pages,
    review_pages,
    grading_pages,
    merge_pages,
    erase_pages,
    insight_api,
    insight_pages,
    similarity_api,
    similarity_pages,
    rejudging_api,
    rejudging_pages,
    lti_pages,
    lti_platform_pages,
    lti_registration_pages,
    search_pages,
)
_AUTHORING = (authoring_api, authoring_pages, repositories_api, repositories_pages)
_OPERATIONS = (
    health,
    operating_api,
    state_pages,
    webhooks_api,
    help_pages,
    personal_data_api,
    personal_data_pages,
)
MODULES = (*_PROBLEMS, *_GRADING, *_LEARNING, *_ACCOUNTS, *_TEACHING, *_AUTHORING, *_OPERATIONS)


async def read_once(request: Request, database: Provided[Database]) -> AsyncIterator[None]:
    """A dependency of every page: what it shows is read in one transaction."""
    if request.method != "GET":
        yield
        return
    async with database.reading_once():
        yield


def routers_of(module: ModuleType) -> list[RestRouter | PageRouter]:
    """Each router that the module has, by itself or in its `Actions`."""
    found: list[RestRouter | PageRouter] = []
    for each in vars(module).values():
        if isinstance(each, Actions):
            found += (each.api, each.pages)
        elif isinstance(each, RestRouter | PageRouter):
            found.append(each)
    # A name for the router of its `Actions` is the same router.
    return list({id(each): each for each in found}.values())


def _include(app: FastAPI, router: RestRouter | PageRouter) -> None:
    if isinstance(router, RestRouter):
        prefix = _API if router.is_versioned else ""
        dependencies = [Depends(limit_rate)] if router.is_counted else []
    else:
        prefix = ""
        # It ends before the answer is sent: a slow reader must not keep a transaction open.
        dependencies = [Depends(read_once, scope="function")] if router.is_read_once else []
    app.include_router(router, prefix=prefix, dependencies=dependencies)


def add_routes(app: FastAPI, metrics: Metrics, clients: Clients, activity: Activity, settings: Settings) -> None:
    """Add all routes and the layers around them. `metrics`, `clients` and `activity` see every request."""
    compile_pages()
    add_error_responses(app, reader_of)
    add_request_viewer(app)
    for module in MODULES:
        for router in routers_of(module):
            _include(app, router)
    app.webhooks.routes.extend(webhooks_api.sent.routes)
    mount_static(app)
    describe(app)
    add_around_requests(app, settings, metrics, clients, activity, lambda: bool(app.state.services[Database].is_full))
