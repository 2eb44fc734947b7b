"""What the routes that show problems need."""

from dataclasses import dataclass

from app.accounts.services import AccountServices
from app.problems.service import Catalogue
from app.problems.store import PackageStore
from app.queue.workers import Workers


@dataclass(frozen=True, kw_only=True)
class ProblemServices(AccountServices):
    """`catalogue` has the published problems, `packages` every version that was ever stored.

    `workers` are the processes that grade.
    """

    catalogue: Catalogue
    packages: PackageStore
    workers: Workers
