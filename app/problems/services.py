"""What the routes that show problems need."""

from dataclasses import dataclass

from app.accounts.services import AccountServices
from app.problems.service import Catalogue
from app.problems.store import PackageStore


@dataclass(frozen=True, kw_only=True)
class ProblemServices(AccountServices):
    """`catalogue` has the published problems, `packages` every version that was ever stored."""

    catalogue: Catalogue
    packages: PackageStore
