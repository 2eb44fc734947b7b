"""What the routes for instructors need."""

from dataclasses import dataclass

from app.accounts.services import AccountServices
from app.authoring.service import Authoring


@dataclass(frozen=True, kw_only=True)
class AuthoringServices(AccountServices):
    authoring: Authoring
