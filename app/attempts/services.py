"""What the attempt routes need."""

from dataclasses import dataclass

from app.attempts.give_up import GiveUps
from app.attempts.overrides import Overrides
from app.attempts.service import Attempts
from app.attempts.shares import Shares
from app.comments.services import CommentServices
from app.problems.services import ProblemServices


@dataclass(frozen=True, kw_only=True)
class AttemptServices(ProblemServices, CommentServices):
    attempts: Attempts
    give_ups: GiveUps
    shares: Shares
    overrides: Overrides
