"""What the routes for people need."""

from dataclasses import dataclass

from app.attempts.services import AttemptServices
from app.audit.services import AuditServices
from app.people.assistance import Assistance
from app.people.changes import PeopleChanges
from app.people.listing import Directory
from app.people.merge import Merging


@dataclass(frozen=True, kw_only=True)
class PeopleServices(AttemptServices, AuditServices):
    directory: Directory
    assistance: Assistance
    people: PeopleChanges
    merging: Merging
