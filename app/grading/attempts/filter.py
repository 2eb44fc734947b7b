"""Which attempts a list shows, as its address says."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_args
from urllib.parse import urlencode

from sqlalchemy import ColumnElement

from app.core.web.choices import one_of
from app.grading.queue.models import AttemptRow
from app.grading.queue.status import AttemptKind
from app.presentation.reasons import REASONS as NAMED_REASONS
from grader.core.reasons import Reason

KINDS: tuple[str, ...] = get_args(AttemptKind)
REASONS: tuple[str, ...] = get_args(Reason)
# `waiting` is queued or running: to somebody who looks for an attempt, both are on the way to a verdict.
STATUSES = ("accepted", "rejected", "failed", "waiting", "cancelled")
_LONGEST_SLUG = 64
_LONGEST_AMONG = 4000


@dataclass(frozen=True, slots=True)
class AttemptFilter:
    """An empty value matches everything. An attempt must match every value.

    `among` are the slugs of problems, separated by commas, of which an attempt is at one.
    """

    problem: str = ""
    kind: str = ""
    status: str = ""
    reason: str = ""
    among: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "AttemptFilter":
        """From the parameters of an address. A value that the page does not offer is dropped."""
        return cls(
            problem=query.get("problem", "")[:_LONGEST_SLUG].replace("\0", ""),
            kind=one_of(query.get("kind", ""), KINDS),
            status=one_of(query.get("status", ""), STATUSES),
            reason=one_of(query.get("reason", ""), REASONS),
            among=query.get("among", "")[:_LONGEST_AMONG].replace("\0", ""),
        )

    @property
    def is_empty(self) -> bool:
        return self == EVERYTHING

    @property
    def reads_verdicts(self) -> bool:
        """Whether what it matches reveals something about verdicts."""
        return bool(self.reason or (self.status and self.status not in {"waiting", "cancelled"}))

    def address(self, path: str = "/attempts", **more: str) -> str:
        """The address of the list at `path` with this filter, and with `more` parameters."""
        query = urlencode({name: value for name, value in (asdict(self) | more).items() if value})
        return f"{path}?{query}" if query else path

    def conditions(self) -> list[ColumnElement[bool]]:
        """Conditions for a query of attempts, without the problem, which chooses the index."""
        found: list[ColumnElement[bool]] = []
        if self.among:
            found.append(AttemptRow.problem.in_(self.among.split(",")))
        if self.kind:
            found.append(AttemptRow.kind == self.kind)
        if self.reason:
            found.append(AttemptRow.verdict_reason == self.reason)
        if self.status == "waiting":
            found.append(AttemptRow.status.in_(("queued", "running")))
        elif self.status == "cancelled":
            found.append(AttemptRow.status == "cancelled")
        elif self.status:
            found.append(AttemptRow.verdict_status == self.status)
        return found


EVERYTHING = AttemptFilter()


def choices(titles: Mapping[str, str], tried: Iterable[str]) -> dict[str, Any]:
    """What the form of a filter offers, for a template. `titles` are those of problems, and `tried` their slugs."""
    return {
        "titles": titles,
        "problems": sorted(tried, key=lambda slug: (titles.get(slug) or slug).lower()),
        "kinds": KINDS,
        "statuses": STATUSES,
        "reasons": list(NAMED_REASONS),
        "reason_names": {reason: found.name for reason, found in NAMED_REASONS.items()},
    }
