"""REST responses for similarity."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.similarity.service import SimilarityReport, Submission

_ONE: dict[str, Any] = {
    "attempt": "8c2f6e1d9b7a4f5e8d3c2b1a0f9e8d7c",
    "user": {"id": "9e7c5a3b1d0f2e4c6a8b0d1f3e5c7a9b", "name": "ada"},
    "score": 100,
}
_OTHER: dict[str, Any] = {
    "attempt": "0f9e8d7c8c2f6e1d9b7a4f5e8d3c2b1a",
    "user": {"id": "1d0f2e4c6a8b0d1f3e5c7a9b9e7c5a3b", "name": "bob"},
    "score": 100,
}
_REPORT: dict[str, Any] = {
    "people": 2,
    "left_out": 0,
    "groups": [],
    "pairs": [{"one": _ONE, "other": _OTHER, "share": 0.92}],
}


class StudentJSON(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str
    name: str


class SimilarSubmissionJSON(BaseModel):
    """The best submission of a student."""

    model_config = ConfigDict(extra="forbid")

    attempt: str
    user: StudentJSON
    score: int

    @classmethod
    def of(cls, submission: Submission) -> "SimilarSubmissionJSON":
        user = StudentJSON(id=submission.user_id, name=submission.name)
        return cls(attempt=submission.attempt_id, user=user, score=submission.score)


class SimilarPairJSON(BaseModel):
    """`share` is the part of the shorter source that is also in the other one, without the starter."""

    model_config = ConfigDict(extra="forbid")

    one: SimilarSubmissionJSON
    other: SimilarSubmissionJSON
    share: float = Field(ge=0, le=1)


class SimilarityJSON(BaseModel):
    """Highest share first. `left_out` people were not compared, because there are too many.

    A group has three or more submissions that are identical except for names, comments and layout. In `pairs`, its
    first member stands for all of it.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_REPORT]})

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
