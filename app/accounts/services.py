"""What routes of accounts need, and so do all that know who asks."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.accounts.providers import Provider
from app.accounts.service import Accounts
from app.database import Database
from app.queue.protocol import GradeQueue
from app.rest.rate_limit import RateLimit
from app.services import Services


@dataclass(frozen=True, kw_only=True)
class AccountServices(Services):
    """`providers` are by their keys, such as "github"."""

    database: Database
    queue: GradeQueue
    accounts: Accounts
    providers: Mapping[str, Provider]
    rate_limit: RateLimit
