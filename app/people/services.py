"""What the routes for people need."""

from dataclasses import dataclass

from app.audit.services import AuditServices
from app.people.changes import PeopleChanges
from app.people.listing import Directory


@dataclass(frozen=True, kw_only=True)
class PeopleServices(AuditServices):
    directory: Directory
    people: PeopleChanges
