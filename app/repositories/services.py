"""What the routes for repositories need."""

from dataclasses import dataclass

from app.authoring.services import AuthoringServices
from app.repositories.service import Repositories
from app.repositories.syncing import Syncs


@dataclass(frozen=True, kw_only=True)
class RepositoryServices(AuthoringServices):
    repositories: Repositories
    syncs: Syncs
