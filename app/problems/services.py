"""What routes need that show problems."""

from dataclasses import dataclass

from app.accounts.services import AccountServices
from app.problems.service import Catalogue
from app.problems.store import PackageStore


@dataclass(frozen=True, kw_only=True)
class ProblemServices(AccountServices):
    """`catalogue` holds what is served now, `packages` every version there ever was."""

    catalogue: Catalogue
    packages: PackageStore
