"""Every route of the service, and the layers around all of them: errors, headers, the request log."""

from collections.abc import AsyncIterator

from fastapi import Depends, FastAPI, Request

from app.accounts import account_pages, confirm_pages, invitation_pages, provider_pages
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
from app.core.rest.error_responses import add_error_responses
from app.core.rest.host_check import add_host_check
from app.core.rest.openapi import describe
from app.core.rest.rate_limit import add_rate_limit_headers
from app.core.services import services_of
from app.core.settings import Settings
from app.core.web.compression import add_compression
from app.core.web.head_requests import add_head_requests
from app.core.web.proxies import Clients, add_proxies
from app.core.web.security import add_security_headers
from app.core.web.static_files import mount_static
from app.core.web.templating import compile_pages
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
from app.operations.operating import state_pages
from app.operations.operating.health import router as health_router
from app.operations.operating.metrics import Metrics
from app.operations.operating.request_log import add_request_log
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


async def read_once(request: Request) -> AsyncIterator[None]:
    """A dependency of every page: what it shows is read in one transaction."""
    if request.method != "GET":
        yield
        return
    async with services_of(request)[Database].reading_once():
        yield


# It ends before the answer is sent: a slow reader must not keep a transaction open.
_PAGES = [Depends(read_once, scope="function")]


def add_routes(app: FastAPI, metrics: Metrics, clients: Clients, activity: Activity, settings: Settings) -> None:
    """Add all routes and the layers around them. `metrics`, `clients` and `activity` see every request."""
    compile_pages()
    add_error_responses(app, reader_of)
    add_request_viewer(app)
    # Routes are tried in order, so the ones that a class requests most often come first.
    app.include_router(problems_api.router, prefix=_API)
    for api in (attempts_api, workbench_api):
        app.include_router(api.router, prefix=_API, dependencies=[Depends(limit_rate)])
    for pages in (browse_pages, workbench_pages, attempts_pages):
        app.include_router(pages.router, dependencies=_PAGES)
    for api in (batch_api, comment_api, accounts_api, webhooks_api, authoring_api, rejudging_api):
        app.include_router(api.router, prefix=_API, dependencies=[Depends(limit_rate)])
    for api in (people_api, attempt_api, insight_api, reports_api, audit_api):
        app.include_router(api.router, prefix=_API, dependencies=[Depends(limit_rate)])
    for api in (courses_api, roster_api, similarity_api, calculators_api, repositories_api):
        app.include_router(api.router, prefix=_API, dependencies=[Depends(limit_rate)])
    for api in (lessons_api, explorer_api, completions_api, interviews_api, personal_data_api):
        app.include_router(api.router, prefix=_API, dependencies=[Depends(limit_rate)])
    app.include_router(health_router)
    app.include_router(operating_api.router)
    app.include_router(state_pages.router, dependencies=_PAGES)
    for pages in (progress_pages, give_up_pages, solutions_pages, theme_pages, restore_pages, report_pages):
        app.include_router(pages.router, dependencies=_PAGES)
    for pages in (accounts_pages, provider_pages, confirm_pages, account_pages, personal_data_pages, help_pages):
        app.include_router(pages.router, dependencies=_PAGES)
    for pages in (overview_pages, people_pages, attempt_pages, insight_pages):
        app.include_router(pages.router, dependencies=_PAGES)
    for pages in (
        audit_pages,
        assignment_pages,
        gradebook_pages,
        category_pages,
        cell_pages,
        extension_pages,
        section_pages,
        roster_pages,
        calculators_pages,
        lessons_pages,
        completions_pages,
        interviews_pages,
        explorer_pages,
        repositories_pages,
    ):
        app.include_router(pages.router, dependencies=_PAGES)
    app.include_router(search_pages.router, dependencies=_PAGES)
    app.include_router(grading_pages.router, dependencies=_PAGES)
    for pages in (
        authoring_pages,
        rejudging_pages,
        lti_pages,
        lti_platform_pages,
        lti_registration_pages,
        similarity_pages,
    ):
        app.include_router(pages.router, dependencies=_PAGES)
    for each in (
        grading_pages,
        exam_pages,
        category_pages,
        cell_pages,
        course_export_pages,
        course_audit_pages,
        section_pages,
    ):
        app.include_router(each.api, prefix=_API, dependencies=[Depends(limit_rate)])
    for each in (exam_pages, course_export_pages, course_audit_pages):
        app.include_router(each.router, dependencies=_PAGES)
    for each in (invitation_pages, account_actions, merge_pages, erase_pages, review_pages):
        app.include_router(each.actions.api, prefix=_API, dependencies=[Depends(limit_rate)])
        app.include_router(each.actions.pages, dependencies=_PAGES)
    for each in (
        courses_pages,
        course_pages,
        course_settings_pages,
        course_copy_pages,
        roster_people_pages,
        course_problem_pages,
        lti_platform_pages,
    ):
        app.include_router(each.actions.api, prefix=_API, dependencies=[Depends(limit_rate)])
        app.include_router(each.actions.pages, dependencies=_PAGES)
    for each in (accounts_api, comment_api, explorer_api, lessons_api, completions_api, interviews_api):
        app.include_router(each.actions.pages, dependencies=_PAGES)
    for each in (rejudging_api, reports_api, repositories_api):
        app.include_router(each.actions.pages, dependencies=_PAGES)
    app.webhooks.routes.extend(webhooks_api.sent.routes)
    mount_static(app)
    describe(app)
    add_compression(app)
    add_head_requests(app)
    add_rate_limit_headers(app)
    add_host_check(app, settings)
    add_security_headers(app, https=settings.is_https)
    add_proxies(app, settings.proxy_networks, clients)
    add_request_log(app, metrics, activity)
