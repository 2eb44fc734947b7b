"""What the rejudge routes need."""

from dataclasses import dataclass

from app.accounts.services import AccountServices
from app.rejudging.service import Rejudging


@dataclass(frozen=True, kw_only=True)
class RejudgingServices(AccountServices):
    rejudging: Rejudging
