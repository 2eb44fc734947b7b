"""Every reason that a verdict can have is explained."""

from app.presentation.reasons import REASONS, TRUST
from grader.core import reasons
from tests.faults import for_each


def test_each_reason_of_the_judge_is_explained_and_no_other() -> None:
    assert set(REASONS) == set(reasons.REASONS)


@for_each("reason", reasons.REASONS)
def test_an_explanation_is_one_sentence(reason: reasons.Reason) -> None:
    sentence = REASONS[reason].sentence
    assert sentence[0].isupper()
    assert sentence.endswith(".")
    assert sentence.count(". ") == 0


@for_each("reason", reasons.REASONS)
def test_it_is_said_where_to_look(reason: reasons.Reason) -> None:
    advice = REASONS[reason].advice
    assert advice.endswith((".", "?"))
    assert advice != REASONS[reason].sentence


def test_both_kinds_of_trust_are_explained() -> None:
    assert set(TRUST) == {"verified", "observed"}
