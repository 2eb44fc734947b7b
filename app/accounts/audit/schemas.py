"""REST responses for the audit log."""

from app.accounts.audit.log import AuditEntry
from app.core.view import View

AUDIT_SEARCH = "A part of a name, of what was done, or of a reason"


class AuditPage(View):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    entries: list[AuditEntry]
    next: str | None
