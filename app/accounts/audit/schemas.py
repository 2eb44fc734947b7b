"""REST responses for the audit log."""

from app.accounts.audit.log import AuditEntry
from app.core.view import View


class AuditPage(View):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    entries: list[AuditEntry]
    next: str | None
