"""What the account routes need, and so does every route that knows its caller."""

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
    """`providers` maps each provider's key, such as "github", to the provider."""

    database: Database
    queue: GradeQueue
    accounts: Accounts
    providers: Mapping[str, Provider]
    rate_limit: RateLimit
