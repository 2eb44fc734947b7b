"""REST bodies and responses for reported faults."""

from app.core.rest.body import RequestBody
from app.core.view import View
from app.learning.workbench.reports import FaultReport


class ReportDoneJSON(RequestBody):
    """Whether the report is done."""

    done: bool


class ReportPage(View):
    """For the next page, send `next` as `before`. It is null on the last page."""

    reports: list[FaultReport]
    next: str | None
