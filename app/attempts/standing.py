"""How far a user has come with each problem."""

from dataclasses import dataclass

from app.accounts.service import User
from app.attempts.service import Attempts

_PAGE = 100


@dataclass(frozen=True, slots=True)
class Standing:
    """`accepted` counts attempts only: a run tries no hidden case."""

    best_score: int | None = None
    accepted: bool = False


async def standings(attempts: Attempts, user: User, problem: str | None = None) -> dict[str, Standing]:
    """Standing by problem, over all of the user's attempts; problems never tried are left out."""
    found: dict[str, Standing] = {}
    before: str | None = None
    while True:
        page = await attempts.list(user, problem=problem, limit=_PAGE, before=before)
        for attempt in page:
            if attempt.kind != "attempt" or attempt.verdict is None:
                continue
            old = found.get(attempt.problem, Standing())
            scores = [score for score in (old.best_score, attempt.score) if score is not None]
            found[attempt.problem] = Standing(
                best_score=max(scores, default=None),
                accepted=old.accepted or attempt.verdict.status == "accepted",
            )
        if len(page) < _PAGE:
            return found
        before = page[-1].id
