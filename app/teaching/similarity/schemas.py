"""REST responses for similarity."""

from pydantic import Field

from app.core.view import View
from app.teaching.similarity.service import SimilarityReport, Submission


class StudentJSON(View):
    id: str
    name: str


class SimilarSubmissionJSON(View):
    """The best submission of a student."""

    attempt: str
    user: StudentJSON
    score: int

    @classmethod
    def of(cls, submission: Submission) -> "SimilarSubmissionJSON":
        user = StudentJSON(id=submission.user_id, name=submission.name)
        return cls(attempt=submission.attempt_id, user=user, score=submission.score)


class SimilarPairJSON(View):
    """`share` is the part of the shorter source that is also in the other one, without the starter."""

    one: SimilarSubmissionJSON
    other: SimilarSubmissionJSON
    share: float = Field(ge=0, le=1)


class SimilarityJSON(View):
    """Highest share first. `left_out` people were not compared, because there are too many.

    A group has three or more submissions that are identical except for names, comments and layout. In `pairs`, its
    first member stands for all of it.
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
            )
            for each in report.pairs
        ]
        groups = [[SimilarSubmissionJSON.of(each) for each in group] for group in report.groups]
        return cls(people=report.people, left_out=report.left_out, groups=groups, pairs=pairs)
