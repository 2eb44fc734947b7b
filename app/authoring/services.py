"""What the routes for instructors need."""

from dataclasses import dataclass

from app.authoring.service import Authoring
from app.problems.services import ProblemServices


@dataclass(frozen=True, kw_only=True)
class AuthoringServices(ProblemServices):
    authoring: Authoring
