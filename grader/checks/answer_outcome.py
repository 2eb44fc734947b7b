"""The input of a check in answer mode: each answer with the right one."""

from dataclasses import dataclass

from grader.answers.answer_text import Value, agrees
from grader.package.package import AnswerSpec


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """One answer of an attempt, worth `points` if it is right. Values are in the unit of `spec`."""

    spec: AnswerSpec
    mine: Value
    expected: Value
    points: int

    @property
    def is_right(self) -> bool:
        return agrees(self.spec, self.mine, self.expected)
