"""REST responses for instructors about rejudges."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from app.authoring.schemas import VersionJSON
from app.core.view import View
from app.teaching.rejudging.errors import SelectionInvalid
from app.teaching.rejudging.selection import Selection
from app.teaching.rejudging.selection_form import MOST_PEOPLE
from app.teaching.rejudging.service import Change, Count, Rejudge
from grader.core.reasons import Reason
from grader.verdicts.verdict import Status

_MOST_VERSIONS = 100
MOMENT_PATTERN = (
    r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?Z$"
)
_ID = Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")]
_VERSION = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
_MOMENT = Annotated[str, StringConstraints(pattern=MOMENT_PATTERN)]


class NewRejudgeJSON(VersionJSON):
    """`version` grades attempts of other versions. Each other field limits which ones.

    `versions` are those that graded the attempts before, `course` stands for its students, `assignment` for what they
    submitted while it counted, and `people` are ids of accounts. `since` is the first moment of submission, and `until`
    the first moment that is too late.
    """

    versions: list[_VERSION] = Field(default=[], max_length=_MOST_VERSIONS)
    course: _ID | None = None
    assignment: _ID | None = None
    people: list[_ID] = Field(default=[], max_length=MOST_PEOPLE)
    since: _MOMENT | None = None
    until: _MOMENT | None = None

    def to_selection(self) -> Selection:
        """Raises `SelectionInvalid`."""
        return Selection(
            versions=tuple(self.versions),
            course=self.course,
            assignment=self.assignment,
            people=tuple(self.people),
            since=_moment("since", self.since),
            until=_moment("until", self.until),
        )


def _moment(field: str, text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        raise SelectionInvalid(f"{field}: the calendar has no {text[:10] if text else ''}.") from None


class VersionCountJSON(View):
    version: str
    attempts: int


class RejudgeCountJSON(View):
    """How many attempts a rejudge would grade, of how many people, and how many of each version."""

    attempts: int
    people: int
    versions: list[VersionCountJSON]

    @classmethod
    def of(cls, count: Count) -> "RejudgeCountJSON":
        versions = [VersionCountJSON(version=version, attempts=number) for version, number in count.versions]
        return cls(attempts=count.attempts, people=count.people, versions=versions)


class RejudgePage(View):
    """For the next page, send `next` as `before`. It is null on the last page."""

    rejudges: list[Rejudge]
    next: str | None


class OutcomeJSON(View):
    """A summary of a verdict. The one before the rejudge has no `reason`."""

    version: str
    status: Status
    reason: Reason | None
    score: int | None


class ChangeJSON(View):
    """One attempt whose status or score a rejudge changes."""

    attempt: str
    user: str
    before: OutcomeJSON
    after: OutcomeJSON

    @classmethod
    def to_version(cls, change: Change, version: str) -> "ChangeJSON":
        return cls(
            attempt=change.attempt_id,
            user=change.user,
            before=OutcomeJSON(
                version=change.old_version, status=change.old_status, reason=None, score=change.old_score
            ),
            after=OutcomeJSON(
                version=version, status=change.new_status, reason=change.new_reason, score=change.new_score
            ),
        )


class ChangePage(View):
    """Sorted by attempt id. For the next page, send `next` as `after`. It is null on the last page."""

    changes: list[ChangeJSON]
    next: str | None
