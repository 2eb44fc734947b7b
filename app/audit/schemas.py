"""REST responses for the audit log."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from app.audit.log import Action, AuditEntry, Party

_ENTRY: dict[str, Any] = {
    "id": "4b8d2f6a1c3e5079b8d6f4a2c0e1d3b5",
    "at": "2026-01-05T09:30:00.000000Z",
    "actor": {"id": "5f0c8e0e2f6b4d1c9a7e3b2d1f0a9c8b", "name": "owner"},
    "action": "role-changed",
    "whom": {"id": "9e7c5a3b1d0f2e4c6a8b0d1f3e5c7a9b", "name": "ada"},
    "detail": "student to instructor",
    "reason": "teaches the second group",
}


class PartyJSON(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str
    name: str

    @classmethod
    def of(cls, party: Party | None) -> "PartyJSON | None":
        return None if party is None else cls(id=party.id, name=party.name)


class AuditEntryJSON(BaseModel):
    """`actor` and `whom` are null once their account is deleted. `whom` is also null for what was done to a problem,
    a course or the service, and `actor` for what the operator did on the command line."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_ENTRY]})

    id: str
    at: datetime
    actor: PartyJSON | None
    action: Action
    whom: PartyJSON | None
    detail: str
    reason: str

    @classmethod
    def of(cls, entry: AuditEntry) -> "AuditEntryJSON":
        return cls(
            id=entry.id,
            at=entry.at,
            actor=PartyJSON.of(entry.actor),
            action=entry.action,
            whom=PartyJSON.of(entry.whom),
            detail=entry.detail,
            reason=entry.reason,
        )


class AuditPage(BaseModel):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"entries": [_ENTRY], "next": None}]})

    entries: list[AuditEntryJSON]
    next: str | None
