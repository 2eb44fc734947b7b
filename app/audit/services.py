"""What the routes of the audit log need."""

from dataclasses import dataclass

from app.accounts.services import AccountServices
from app.audit.log import AuditLog


@dataclass(frozen=True, kw_only=True)
class AuditServices(AccountServices):
    audit: AuditLog
