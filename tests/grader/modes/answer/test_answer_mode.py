"""Answer mode: questions are drawn once in the walls, and an attempt is compared outside of them."""

import json
from pathlib import Path

import pytest

from grader.answers.question_variants import AnswerSheet, Variant, Variants
from grader.checks.answer.values import TRIES_WITH_PARTS
from grader.core.errors import GraderFault
from grader.judging.judge import Judge
from grader.package.fault import PackageInvalid
from grader.package.package import AnswerManifest
from grader.package.pitfalls import pitfall_of
from grader.verdicts.verdict import Verdict
from tests.grader.modes.answer.answer_package import FILES, MANIFEST, InHere, package

ALWAYS_THE_SAME = """
def draw(rng):
    return {"rows": 8, "fsdp": 2}


def truth(parameters):
    return {"bytes": 1, "spec": "P()"}
"""

PITFALLS = """Say how many bytes a device stores.

## Pitfalls

- **Other bytes.**
- **The whole array.** A device stores a part.
  <!-- rejected: {} -->
"""


@pytest.fixture
def sandbox() -> InHere:
    return InHere()


@pytest.fixture
def judge(sandbox: InHere, tmp_path: Path) -> Judge:
    return Judge(sandbox, b"secret", tmp_path)


def questions_of(judge: Judge) -> Variants:
    found = judge.variants(package())
    assert found is not None
    return found


def sheet(variant: Variant, **answers: object) -> str:
    right = {**variant.truth, **answers}
    return AnswerSheet(right, variant.number, 1, variant.parameters).source()


def judged(judge: Judge, **answers: object) -> Verdict:
    return judge.judge(package(), sheet(questions_of(judge).variants[0], **answers))


def test_right_answers_are_accepted_without_a_runner(judge: Judge, sandbox: InHere) -> None:
    verdict = judged(judge)
    assert (verdict.status, verdict.score, verdict.misconception) == ("accepted", 100, None)
    assert judged(judge).model_dump(exclude={"timings_ms"}) == verdict.model_dump(exclude={"timings_ms"})
    assert sandbox.opened == 1  # for the questions


def test_evidence_has_the_expected_answer_only_once_it_is_accepted(judge: Judge) -> None:
    first = judged(judge).checks[0].evidence[0]
    assert first.values["yours"] == first.values["expected"]  # type: ignore[union-attr]
    for each in judged(judge, bytes=7).checks[0].evidence:
        assert set(each.values) == {"yours", "tolerance", "right"}  # type: ignore[union-attr]


def test_a_wrong_answer_is_named_and_a_known_formula_explained(judge: Judge) -> None:
    first = questions_of(judge).variants[0]
    verdict = judged(judge, bytes=first.parameters["rows"] * 4)
    assert (verdict.status, verdict.reason, verdict.score) == ("rejected", "wrong_value", 50)
    assert verdict.misconception == "You count the whole array. Each device stores a part."
    assert [case.passed for case in verdict.cases] == [False, True]
    assert verdict.checks[0].message == (
        "1 of 2 answers is wrong: Bytes on one device. The right answer earns 50 points."
    )
    assert judged(judge, bytes=7).misconception is None


def test_the_pitfall_of_a_known_formula_is_the_item_that_names_its_function(judge: Judge) -> None:
    marked = package(statement__md=PITFALLS.format("whole"))
    wrong = sheet(questions_of(judge).variants[0], bytes=questions_of(judge).variants[0].parameters["rows"] * 4)
    misconception = judge.judge(marked, wrong).misconception
    assert misconception is not None
    found = pitfall_of(marked, misconception)
    assert found is not None
    assert (found.number, found.text) == (2, "**The whole array.** A device stores a part.")
    assert pitfall_of(package(), misconception) is None


def test_a_wrong_answer_costs_its_own_points_only(judge: Judge) -> None:
    assert [judged(judge, **wrong).score for wrong in ({"spec": "P()"}, {"bytes": 7}, {"bytes": 7, "spec": "P()"})] == [
        50,
        50,
        0,
    ]


def test_answers_share_the_points_to_the_last_one(judge: Judge) -> None:
    manifest = package().manifest
    assert isinstance(manifest, AnswerManifest)
    one, *_ = manifest.answers
    seven = [one.model_copy(update={"id": f"a{number}"}) for number in range(7)]
    shared = manifest.model_copy(update={"answers": seven}).points
    assert list(shared.values()) == [15, 15, 14, 14, 14, 14, 14]


def test_guessing_again_and_again_earns_nothing_but_all_right_answers_always_do(judge: Judge) -> None:
    """Anyone who guesses often enough has some answers right, so only the first tries give points for some."""
    first = questions_of(judge).variants[0]

    def score(number_of_try: int, **answers: object) -> int | None:
        given = {**first.truth, **answers}
        source = AnswerSheet(given, first.number, number_of_try, first.parameters).source()
        return judge.judge(package(), source).score

    assert [score(number, spec="P()") for number in (TRIES_WITH_PARTS, TRIES_WITH_PARTS + 1)] == [50, 0]
    assert score(TRIES_WITH_PARTS + 1) == 100


@pytest.mark.parametrize(
    ("source", "reason", "message"),
    [
        ("bytes = 1", "syntax_error", "not JSON"),
        ("[1]", "syntax_error", "must be a JSON object"),
        ('{"bytes": NaN}', "syntax_error", "NaN is not a value"),
        ('{"bytes": 1}', "wrong_structure", "spec: This answer is empty. Write a spec"),
        ('{"answers": {"bytes": 1, "spec": "P()"}, "variant": 99}', "wrong_structure", "no question 99"),
        ('{"answers": [1]}', "syntax_error", "must be a JSON object"),
        ('{"answers": {}, "variant": "1"}', "syntax_error", "whole numbers"),
    ],
)
def test_what_is_no_sheet_is_rejected_with_a_message(judge: Judge, source: str, reason: str, message: str) -> None:
    verdict = judge.judge(package(), source)
    assert (verdict.status, verdict.reason) == ("rejected", reason)
    assert message in verdict.checks[0].message


def test_the_starter_is_rejected(judge: Judge) -> None:
    assert json.loads(package().starter) == {"bytes": "", "spec": ""}
    assert judge.judge(package(), package().starter).reason == "wrong_structure"


def test_a_rejudge_by_another_version_answers_the_question_that_was_asked(judge: Judge, sandbox: InHere) -> None:
    first = questions_of(judge).variants[0]
    doubled = package(questions__py=FILES["questions.py"].replace('"] * 4 //', '"] * 8 //'))
    assert judge.judge(doubled, sheet(first)).reason == "wrong_value"
    assert judge.judge(doubled, sheet(first, bytes=2 * int(first.truth["bytes"]))).status == "accepted"  # type: ignore[arg-type]


def test_questions_are_kept_on_disk(judge: Judge, sandbox: InHere, tmp_path: Path) -> None:
    made = questions_of(judge)
    again = InHere()
    assert Judge(again, b"secret", tmp_path).variants(package()) == made
    assert again.opened == 0
    assert Judge(InHere(), b"another", tmp_path).variants(package()) != made


def test_each_try_has_other_numbers_until_all_were_asked(judge: Judge) -> None:
    questions = questions_of(judge)
    number = len(questions.variants)
    mine = [questions.of("ada", each).number for each in range(1, number + 1)]
    assert len(set(mine)) == number
    assert questions.of("ada", number + 1).number == mine[0]
    assert mine == [questions.of("ada", each).number for each in range(1, number + 1)]
    assert mine != [questions.of("bob", each).number for each in range(1, number + 1)]


def test_a_formula_that_is_never_wrong_is_reported_and_explains_nothing(judge: Judge) -> None:
    assert questions_of(judge).always_right() == ["as_the_truth"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"questions__py": ALWAYS_THE_SAME},
            "gave 1 different",
        ),
        (
            {"questions__py": FILES["questions.py"].replace('parameters["rows"] * 4 //', "1 + 0 *")},
            "have the same answers",
        ),
        (
            {"questions__py": FILES["questions.py"].replace('// parameters["fsdp"]', '* float("inf")')},
            "not a finite number",
        ),
        (
            {"questions__py": FILES["questions.py"].replace(', "spec": "P(\'fsdp\', None)"', "")},
            "lacks an answer for 'spec'",
        ),
        ({"questions__py": FILES["questions.py"].replace('"spec": "P', '"more": 1, "spec": "P')}, "answers 'more'"),
        ({"mistakes__py": '"""None."""\n'}, "mistakes.py has no function"),
        (
            {"problem__toml": MANIFEST.replace('["rows"]', '["columns"]')},
            "mesh: 'columns' must be a size",
        ),
        ({"mistakes__py": 'def whole(parameters):\n    return {"bytes": 1}\n'}, "must have a docstring"),
        ({"explanation__md": "{{ whole_array }} bytes"}, "explanation.md: there is no value 'whole_array'"),
        ({"question__md": "{{ whole }} bytes"}, "question.md: there is no value 'whole'"),
    ],
    ids=range(10),
)
def test_questions_that_cannot_be_asked_are_refused(judge: Judge, changed: dict[str, str], message: str) -> None:
    with pytest.raises(GraderFault, match=message):
        judge.prepare(package(**changed))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"questions__py": "def draw(rng):\n    return {}\n"}, "questions.py does not define 'truth'"),
        ({"statement__md": PITFALLS.format("hole")}, "mistakes.py has no function hole .did you mean 'whole'"),
        ({"statement__md": PITFALLS.format("whole"), "mistakes__py": "def ("}, "mistakes.py has no function whole"),
        ({"cases__py": "x = 1\n"}, "cases.py does not belong in a package of answer mode"),
        ({"explanation__md": ""}, "explanation.md is missing or empty"),
        ({"problem__toml": MANIFEST.replace('id = "spec"', 'id = "bytes"')}, "the id 'bytes' occurs twice"),
        ({"problem__toml": MANIFEST.replace('kind = "spec"', 'kind = "choice"')}, "at least two different choices"),
        ({"problem__toml": MANIFEST.replace('kind = "spec"', 'kind = "table"')}, "a table has rows and columns"),
        ({"problem__toml": MANIFEST.replace('mode = "answer"', 'mode = "answers"')}, "did you mean 'answer'"),
    ],
    ids=range(9),
)
def test_the_reader_refuses(changed: dict[str, str], message: str) -> None:
    with pytest.raises(PackageInvalid, match=message):
        package(**changed)
