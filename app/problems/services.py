"""What the routes that show problems need."""

from dataclasses import dataclass

from app.accounts.services import AccountServices
from app.problems.exams import Exams
from app.problems.service import Catalogue
from app.problems.store import PackageStore
from app.problems.texts import RenderedTexts
from app.queue.workers import Workers


@dataclass(frozen=True, kw_only=True)
class ProblemServices(AccountServices):
    """`catalogue` has the published problems, `packages` every version that was ever stored.

    `texts` are those of packages as pages show them, `workers` the processes that grade.
    `exams` says what is closed to whom.
    """

    catalogue: Catalogue
    packages: PackageStore
    workers: Workers
    texts: RenderedTexts
    exams: Exams
