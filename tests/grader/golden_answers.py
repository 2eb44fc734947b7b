"""Golden verdicts of an answer-mode problem: all answers right, some wrong and all wrong, in first and later tries."""

from functools import partial

from grader.answers.question_variants import AnswerSheet, Variant, Variants, WrongFormula
from grader.core.context import QUIET, Stop
from grader.mistakes.known_mistakes import KnownMistakes
from grader.modes.answer.grading import AnswerGrading
from grader.modes.mode import GradingRequest
from grader.modes.report import Report
from grader.package.package import AnswerManifest
from grader.verdicts.verdict import Verdict
from tests.grader.golden_judge import Groups
from tests.grader.modes.answer.answer_package import package

_WHOLE = WrongFormula("whole", "You count the whole array.", {"bytes": 128})
_QUESTION = Variant(1, {"rows": 32, "fsdp": 4}, {"bytes": 32, "spec": "P('fsdp')"}, {}, (_WHOLE,))


def graded(answers: dict[str, object], number_of_try: int = 1) -> Verdict:
    answered = package()
    assert isinstance(answered.manifest, AnswerManifest)
    source = AnswerSheet(answers, 1, number_of_try, _QUESTION.parameters).source()
    report = Report(answered, hidden=True, walls=())
    request = GradingRequest(source, True, None, KnownMistakes(answered, source), report, QUIET)
    return AnswerGrading(answered.manifest, Variants("", (_QUESTION,)), request, _never).grade()


def _never(parameters: dict[str, object], stop: Stop) -> Variant:
    raise AssertionError("the question is known")


_RIGHT, _HALF, _WRONG = (
    {"bytes": number, "spec": spec} for number, spec in ((32, "P('fsdp')"), (128, "P('fsdp')"), (7, "P()"))
)
ANSWERS: Groups = {
    "answer-values": {
        "all right": partial(graded, _RIGHT),
        "one wrong": partial(graded, _HALF),
        "one wrong in a late try": partial(graded, _HALF, 4),
        "all wrong": partial(graded, _WRONG),
        "all right in a late try": partial(graded, _RIGHT, 4),
        "unreadable": partial(graded, {"bytes": "1,00", "spec": "P()"}),
    }
}
