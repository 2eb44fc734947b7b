"""A page shows every form of verdict safely, with failed checks first."""

import math
import re
from collections.abc import Sequence

import pytest

from app.core.web.messages import listing_of, prose_of, short_number
from app.core.web.templating import ENVIRONMENT
from app.presentation.verdict_view import arrange_verdict
from grader.core.reasons import Reason
from grader.verdicts.evidence import (
    Difference,
    Evidence,
    Facts,
    FailedCase,
    Fault,
    Frame,
    OutputTolerance,
    OutputTolerances,
    Tolerances,
    ToleranceUsed,
    WorstElement,
)
from grader.verdicts.verdict import CaseResult, CheckResult, Status, Timings, Verdict


def _verdict(
    *,
    status: Status = "rejected",
    reason: Reason | None = "wrong_value",
    score: int | None = 40,
    evidence: Sequence[Evidence] = (),
    stdout: str = "",
    misconception: str | None = None,
) -> Verdict:
    passed = status == "accepted"
    return Verdict(
        problem="fsdp_step",
        version="v",
        status=status,
        reason=reason,
        score=score,
        checks=[
            CheckResult(
                id="values",
                title="Values",
                passed=passed,
                points=60 if passed else 0,
                max_points=60,
                trust="verified",
                message="1 of 2 cases differs",
                evidence=list(evidence),
            ),
            CheckResult(
                id="update", title="Update", passed=True, points=40, max_points=40, trust="observed", message=""
            ),
        ],
        cases=[
            CaseResult(id="public-1", public=True, passed=True, message="matches"),
            CaseResult(id="public-2", public=True, passed=passed, message="expected 1, got 2"),
        ],
        misconception=misconception,
        stdout=stdout,
        truncated=bool(stdout),
        walls=["seccomp"],
        timings_ms=Timings(total=12),
    )


def _draw(verdict: Verdict) -> str:
    template = ENVIRONMENT.get_template("grading/fragments/verdict.html")
    return template.render(view=arrange_verdict(verdict), attempt_url="/attempts/1")


def test_a_rejected_one_says_why_and_shows_the_failing_case() -> None:
    html = _draw(_verdict(misconception="You returned the loss after the update."))
    for text in ("rejected", "Wrong value", "First failing case: public-2", "expected 1, got 2", "40", "of 100 points"):
        assert text in html
    assert "You returned the loss after the update." in html


def test_an_accepted_one_shows_no_failing_case() -> None:
    html = _draw(_verdict(status="accepted", reason=None, score=100))
    assert "accepted" in html
    assert "First failing case" not in html


@pytest.mark.parametrize(
    ("right", "headline", "explanation"),
    [
        ([False], "Wrong answer", "Your answer is wrong."),
        ([True, False], "Wrong answer", "1 of 2 answers is right."),
        ([True, True, False], "Wrong answer", "2 of 3 answers are right."),
        ([False, False], "Wrong answers", "None of your answers is right."),
        ([True], "Your answer is right.", ""),
        ([True, True], "All your answers are right.", ""),
        ([], "Not graded", "Your answers could not be read."),
    ],
)
def test_answers_are_counted_and_get_no_advice_about_code(right: list[bool], headline: str, explanation: str) -> None:
    accepted = bool(right) and all(right)
    cases = [CaseResult(id=f"a{number}", public=True, passed=each, message="") for number, each in enumerate(right)]
    verdict = _verdict(status="accepted" if accepted else "rejected", reason=None if accepted else "wrong_value")
    view = arrange_verdict(verdict.model_copy(update={"cases": cases}), is_answer=True)
    assert (view.headline, view.explanation, view.reason, view.score_note) == (headline, explanation, None, "")


def test_a_submission_that_never_ran_says_why_at_the_top() -> None:
    verdict = _verdict(reason="syntax_error").model_copy(update={"cases": []})
    assert arrange_verdict(verdict).first_failure is None
    assert arrange_verdict(verdict).first_fault == "1 of 2 cases differs"
    assert _draw(verdict).index("1 of 2 cases differs") < _draw(verdict).index("Checks")


def test_points_that_do_not_count_are_explained() -> None:
    note = (
        "The checks that passed are worth 40 points, but the score is 0: points count only if every value is correct."
    )
    assert note in _draw(_verdict(score=0))
    for other in (_verdict(score=40), _verdict(score=None), _verdict(status="accepted", reason=None, score=100)):
        assert arrange_verdict(other).score_note == ""


def test_an_untouched_starter_is_not_called_rejected() -> None:
    verdict = _verdict(score=0, misconception="You returned nothing.")
    view = arrange_verdict(verdict, is_starter=True)
    html = ENVIRONMENT.get_template("grading/fragments/verdict.html").render(view=view, attempt_url="/attempts/1")
    head = html[: html.index("What the grader found in the starter")]
    assert "nothing written yet" in head
    for text in ("rejected", "Wrong value", "First failing case", "You returned nothing", "worth 40 points"):
        assert text not in head
    # Nobody has earned the points of the checks that the starter passes.
    assert (view.score, view.outcome) == (None, "nothing written yet")
    assert not re.search(r"\d+ (<[^>]+>)?of \d+( points|<)", html)
    assert 'data-status="unwritten"' in head
    assert arrange_verdict(_verdict(status="failed", reason=None), is_starter=True).status == "failed"


def test_code_in_a_message_is_code_and_the_rest_is_prose() -> None:
    message = "`params/w<1>` is `P()`, and ` is alone.\nInputs:\n  `x` = 1"
    case = CaseResult(id="public-1", public=True, passed=False, message=message)
    html = _draw(_verdict().model_copy(update={"cases": [case]}))
    sentence = "<code>params/w&lt;1&gt;</code> is <code>P()</code>, and ` is alone."
    assert f'<p class="message">{sentence}</p>' in html
    assert "Inputs:\n  `x` = 1</pre>" in html


def test_cases_that_came_out_alike_are_one_row_and_others_are_not() -> None:
    def case(name: str, passed: bool, message: str) -> CaseResult:
        return CaseResult(id=name, public=name == "public-1", passed=passed, message=message)

    cases = [
        case("public-1", True, "Agrees."),
        case("hidden-1", True, "Agrees."),
        case("hidden-2", False, "Differs."),
        case("hidden-3", False, "1 element differs.\nInputs:\n  x = 1"),
        case("hidden-4", False, "1 element differs.\nInputs:\n  x = 1"),
    ]
    view = arrange_verdict(_verdict().model_copy(update={"cases": cases}))
    groups = [[each.id for each in group] for group in view.cases]
    assert groups == [["public-1", "hidden-1"], ["hidden-2"], ["hidden-3"], ["hidden-4"]]
    assert (view.passed_cases, view.all_cases) == (2, 5)


@pytest.mark.parametrize(
    ("message", "prose", "listing"),
    [
        ("On mesh x=8, too much.\nOn mesh x=4, too much.", 2, ""),
        ("1 element differs.\nInputs:\n  x = 1.", 1, "Inputs:\n  x = 1."),
        (
            "Differs\nTraceback (most recent call last):\nValueError: no.",
            1,
            "Traceback (most recent call last):\nValueError: no.",
        ),
        (
            "Traceback (most recent call last):\nValueError: no.",
            0,
            "Traceback (most recent call last):\nValueError: no.",
        ),
        ("", 0, ""),
    ],
    ids=["sentences", "values", "traceback below", "traceback", "nothing"],
)
def test_sentences_are_prose_and_what_is_aligned_is_a_listing(message, prose, listing) -> None:
    assert (len(prose_of(message)), listing_of(message)) == (prose, listing)


def test_a_traceback_is_a_listing_from_its_first_line() -> None:
    message = "Traceback (most recent call last):\n  line 1, in f\nValueError: `x`"
    case = CaseResult(id="public-1", public=True, passed=False, message=message)
    html = _draw(_verdict().model_copy(update={"cases": [case]}))
    assert f'<pre class="listing" tabindex="0">{message}</pre>' in html


def test_a_traceback_stands_once_on_the_page() -> None:
    """At the top. Another case and the check keep what they say otherwise, such as another last line."""
    frames = "  line 7, in step\n    raise ValueError"
    texts = [f"Your code raised an exception:\n{frames}\nValueError: {number}" for number in (1, 2)]
    cases = [
        CaseResult(id=f"public-{number}", public=True, passed=False, message=text) for number, text in enumerate(texts)
    ]
    fault = Fault(type="ValueError", traceback=[Frame(line=7, function="step", text="raise ValueError")])
    verdict = _verdict(evidence=[fault])
    failed = next(each for each in verdict.checks if not each.passed)
    checks = [failed.model_copy(update={"message": texts[0], "headlines": ["ValueError: 1"]})]
    for given in (cases, []):
        html = _draw(verdict.model_copy(update={"cases": given, "checks": checks}))
        assert html.count("raise ValueError") == html.count("line 7, in step") == 1
        assert ("ValueError: 2" in html) == bool(given)


def test_the_inputs_of_an_exception_are_shown_once() -> None:
    message = "Traceback (most recent call last):\nValueError: x\nInputs:\n  lr = 0.1"
    case = CaseResult(id="public-2", public=True, passed=False, message=message)
    failed = FailedCase(case="public-2", inputs={"lr": "0.1"}, fault=Fault(line=3, type="ValueError"))
    view = arrange_verdict(_verdict(evidence=[failed]).model_copy(update={"cases": [case]}))
    assert view.cases[0][0].message == "Traceback (most recent call last):\nValueError: x"
    assert view.cases[0][0].facts[0].facts["inputs"] == {"lr": "0.1"}


@pytest.mark.parametrize(
    ("value", "short"),
    [
        (0.35291327886354495, "0.353"),
        ("0.35291327886354495", "0.353"),
        ("-1.25e-07", None),
        ("1.2345678e-07", "1.23e-07"),
        ("1.9019153", "1.90"),
        ("1234.5678", "1.23e+03"),
        ("123.45", "123"),
        ("0.0", None),
        (1e-5, None),
        (0.5, None),
        (12345678, None),
        ("12345678", None),
        ("nan", None),
        (math.nan, None),
        ("[0.35291327886354495]", None),
        (True, None),
    ],
)
def test_long_numbers_are_shortened(value: object, short: str | None) -> None:
    assert short_number(value) == short


def test_a_shortened_number_says_the_exact_one() -> None:
    worst = WorstElement(index=[0], expected="0.35291327886354495", got="0.5", relative_error=0.41677858)
    failed = FailedCase(case="public-2", difference=Difference(expected="x", got="y", worst=worst))
    html = _draw(_verdict(evidence=[failed]))
    for exact, short in (("0.35291327886354495", "0.353"), ("0.41677858", "0.417")):
        assert f'<abbr title="{exact}"><code class="number">{short}</code></abbr>' in html


def test_a_run_is_said_not_to_be_scored() -> None:
    view = arrange_verdict(_verdict(status="accepted", reason=None, score=None))
    assert view.is_run
    assert view.headline == "Public cases pass"


def test_a_failed_one_is_the_graders_fault() -> None:
    view = arrange_verdict(_verdict(status="failed", reason=None, score=None))
    assert view.headline == "The grader failed"
    assert not view.is_run


def _failed(inputs: dict[str, str]) -> FailedCase:
    worst = WorstElement(index=[0, 7], expected="1", got="2", relative_error=1.0)
    return FailedCase(case="public-2", inputs=inputs, difference=Difference(expected="[1.0]", got="[2.0]", worst=worst))


def test_facts_of_a_case_are_shown_with_the_case() -> None:
    tolerances = Tolerances(by_dtype={"float32": ToleranceUsed(rtol=1e-5, atol=1e-6)})
    view = arrange_verdict(_verdict(evidence=[tolerances, _failed({"seed": "0", "x": "[[1]\n [2]]"})]))
    assert view.first_failure is not None
    (facts,) = view.first_failure.facts
    assert facts.where == ""
    assert facts.facts == {
        "inputs": {"seed": "0", "x": "[[1]\n [2]]"},
        "expected": "[1.0]",
        "got": "[2.0]",
        "worst_index": [0, 7],
        "worst_expected": "1",
        "worst_got": "2",
        "relative_error": 1.0,
    }
    assert view.checks[0].facts == {"tolerance": {"float32": {"rtol": 1e-5, "atol": 1e-6}}}


def test_the_tolerances_of_outputs_are_facts_of_the_check() -> None:
    own = OutputTolerances(outputs=[OutputTolerance(output="loss", dtype="float32", rtol=0.0, atol=0.5)])
    view = arrange_verdict(_verdict(evidence=[Tolerances(by_dtype={}), own]))
    assert view.checks[0].facts["tolerance of outputs"] == {"loss (float32)": {"rtol": 0.0, "atol": 0.5}}


def test_a_message_does_not_repeat_the_facts_below_it() -> None:
    long = CaseResult(id="public-2", public=True, passed=False, message="1 element differs.\nInputs:\n  lr = 0.1")
    with_facts = _verdict(evidence=[_failed({"lr": "0.1"})]).model_copy(update={"cases": [long]})
    without = _verdict().model_copy(update={"cases": [long]})
    assert arrange_verdict(with_facts).cases[0][0].message == "1 element differs."
    assert arrange_verdict(without).cases[0][0].message == long.message


def test_texts_of_evidence_are_escaped() -> None:
    evil = "<script>alert(1)</script>\x1b[31m"
    fault = Fault(line=3, type=evil, traceback=[Frame(line=3, function=evil, text="\x1b[31mraise X")])
    facts = Facts(about=evil, values={"<b>key</b>": evil, "known": True, "number": 7})
    html = _draw(_verdict(evidence=[_failed({"<b>x</b>": evil}), fault, facts]))
    assert "<script>" not in html
    assert "<b>" not in html
    assert "\x1b" not in html
    assert "[0, 7]" in html


def test_output_is_escaped_and_marked_as_cut() -> None:
    html = _draw(_verdict(stdout="\x1b[2J<script>alert(1)</script>"))
    assert "&lt;script&gt;" in html
    assert "\x1b" not in html
    assert "Truncated here" in html
