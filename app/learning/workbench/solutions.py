"""A student's accepted source beside the reference."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from markupsafe import Markup
from sqlalchemy import bindparam, select

from app.accounts.caller import User
from app.core.database import Database, select_rows
from app.core.prepared_select import PreparedSelect
from app.core.web.alignment import align
from app.core.web.highlight import highlight_code
from app.grading.queue.models import AttemptRow
from app.grading.queue.withheld_verdicts import shown_only
from app.problems.visibility import Visibility
from grader.core.text import plain_text


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    html: Markup


@dataclass(frozen=True, slots=True)
class Row:
    """One line of each source, or of one of them. `same` if they do not differ."""

    mine: Line | None
    reference: Line | None
    same: bool


@dataclass(frozen=True, slots=True)
class AcceptedAttempt:
    id: str
    source: str


# Built once: building a statement takes as long as executing it, and every problem page needs it.
_ACCEPTED = PreparedSelect(
    select(AttemptRow.id, AttemptRow.source)
    .where(
        AttemptRow.user_id == bindparam("user_id"),
        AttemptRow.problem == bindparam("problem"),
        AttemptRow.kind == "attempt",
        AttemptRow.verdict_status == "accepted",
    )
    .order_by(AttemptRow.created_at.desc(), AttemptRow.id.desc())
    .limit(1)
)


class Solutions:
    """Safe to share between requests."""

    def __init__(self, database: Database, visibility: Visibility) -> None:
        self._database, self._visibility = database, visibility

    async def accepted_attempt(self, user: User, slug: str) -> AcceptedAttempt | None:
        """The user's latest accepted attempt at the problem, which opens its reference to them.

        None while an open exam or interview closes solutions of this problem to the user.
        """
        if await self._visibility.closed(user, slug, "solutions") is not None:
            return None
        async with self._database.reading() as session:
            shown = await shown_only(session, user_id=user.id, problem=slug)
            row = (await select_rows(session, _ACCEPTED.where(*shown), {"user_id": user.id, "problem": slug})).first()
        return AcceptedAttempt(*row) if row else None


def side_by_side(mine: str, reference: str) -> list[Row]:
    """The lines of both, equal ones beside each other."""
    a, b = _lines(mine), _lines(reference)
    a_html, b_html = coloured(mine), coloured(reference)
    return [
        Row(
            None if i is None else Line(i + 1, a_html[i]),
            None if j is None else Line(j + 1, b_html[j]),
            i is not None and j is not None and a[i] == b[j],
        )
        for i, j in _pairs(a, b)
    ]


def coloured(source: str) -> list[Markup]:
    """The lines of a source as HTML, in colours. Each line closes what it opens."""
    return [Markup(line) for line in highlight_code("\n".join(_lines(source))).split("\n")]


def _lines(source: str) -> list[str]:
    return plain_text(source).strip("\n").split("\n")


def _pairs(a: list[str], b: list[str]) -> Iterator[tuple[int | None, int | None]]:
    for _, (a0, a1, b0, b1) in align(a, b):
        yield from zip_longest(range(a0, a1), range(b0, b1))
