"""REST responses for similarity."""

from datetime import datetime

from pydantic import Field

from app.core.view import View
from app.teaching.identities.identity import RosterIdentity
from app.teaching.similarity.service import SimilarityReport
from app.teaching.similarity.submissions import Submission


class StudentJSON(View):
    """`identity` is what a roster says of the student; null if no roster does."""

    id: str
    name: str
    identity: RosterIdentity | None


class SimilarSubmissionJSON(View):
    """An attempt of a student.

    `earlier` is how many runs and attempts the student sent before it. `saves` is how many texts the student's draft
    has had in the browser; 0 if no draft was begun before it was sent.
    """

    attempt: str
    user: StudentJSON
    score: int
    accepted: bool
    sent_at: datetime
    earlier: int
    saves: int

    @classmethod
    def of(cls, submission: Submission) -> "SimilarSubmissionJSON":
        return cls.read_from(
            submission,
            attempt=submission.attempt_id,
            user=StudentJSON(id=submission.user_id, name=submission.name, identity=submission.identity),
            accepted=submission.is_accepted,
        )


class SimilarPairJSON(View):
    """`share` is the part of the source with fewer rare parts that is also in the other one, by weight.

    `weight` is that of what they have in common: a part that no third student has counts 1, and one that everybody has,
    or that comes with the problem, counts 0.
    """

    one: SimilarSubmissionJSON
    other: SimilarSubmissionJSON
    share: float = Field(ge=0, le=1)
    weight: float = Field(ge=0)


class SimilarityJSON(View):
    """Highest share first. `left_out` people were not compared, because there are too many.

    A group has three or more submissions that are identical except for names, comments, layout and the order of
    functions. In `pairs`, its first member stands for all of it.
    """

    people: int
    left_out: int
    groups: list[list[SimilarSubmissionJSON]]
    pairs: list[SimilarPairJSON]

    @classmethod
    def of(cls, report: SimilarityReport) -> "SimilarityJSON":
        pairs = [
            SimilarPairJSON(
                one=SimilarSubmissionJSON.of(each.one),
                other=SimilarSubmissionJSON.of(each.other),
                share=round(each.share, 4),
                weight=round(each.weight, 1),
            )
            for each in report.pairs
        ]
        groups = [[SimilarSubmissionJSON.of(each) for each in group] for group in report.groups]
        return cls(people=report.people, left_out=report.left_out, groups=groups, pairs=pairs)
