"""The tolerance of single outputs: what is compared with it, what evidence shows, and what it may name."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.checks.compare import compare, excess, tolerances_used
from grader.checks.wording import closeness, tolerances
from grader.core.errors import GraderFault
from grader.core.wire import Frame, leaves
from grader.judging.judge import Judge
from grader.mistakes.known_mistakes import is_alike
from grader.package.package import OutputTolerance, Package, Tolerance, ToleranceTable
from grader.review.output_names import unmatched_outputs
from grader.sandbox.null_sandbox import NullSandbox
from grader.verdicts.evidence import OutputTolerance as Used
from grader.verdicts.evidence import OutputTolerances, Tolerances, ToleranceUsed
from grader.verdicts.fingerprint import Fingerprint, sketch

HALF = Tolerance(rtol=0, atol=0.5)


def of_outputs(*outputs: str, atol: float = 0.5, dtype: str | None = None) -> OutputTolerance:
    return OutputTolerance(outputs=[*outputs], rtol=0, atol=atol, dtype=dtype)


def table(*entries: OutputTolerance) -> ToleranceTable:
    return ToleranceTable({"float32": Tolerance(rtol=0, atol=0.001)}, entries)


def result(loss: float = 1, weight: float = 1, count: int = 3) -> dict[str, Any]:
    return {"loss": np.float32(loss).reshape(1), "params": [np.float32([weight])], "count": np.asarray([count])}


def differs(allowed: ToleranceTable, **changes: Any) -> str | None:
    mismatch = compare(result(), result(**changes), allowed)
    return mismatch and mismatch.message.partition(":")[0]


def test_only_the_outputs_that_are_named_have_it() -> None:
    allowed = table(of_outputs("params/*"))
    assert differs(allowed, weight=1.4) is None
    assert differs(allowed, weight=1.6) == "leaf params/0"
    assert differs(allowed, loss=1.4) == "leaf loss"
    assert excess(result(), result(weight=1.25), allowed) == pytest.approx(0.5)


def test_the_first_entry_that_matches_counts() -> None:
    assert differs(table(of_outputs("loss"), of_outputs("*", atol=0)), loss=1.4) is None
    assert differs(table(of_outputs("*", atol=0), of_outputs("loss")), loss=1.4) == "leaf loss"


def test_integers_are_exact_unless_their_dtype_is_named() -> None:
    assert differs(table(of_outputs("*", atol=2)), count=4) == "leaf count"
    assert differs(table(of_outputs("*", atol=2, dtype="int64")), count=4) is None
    assert differs(table(of_outputs("*", atol=2, dtype="int64")), loss=2) == "leaf loss"


def test_a_python_float_has_that_of_float32() -> None:
    assert compare({"a": 1.0}, {"a": 1.4}, table(of_outputs("a", dtype="float32"))) is None
    assert compare({"a": 1.0}, {"a": 1.4}, table(of_outputs("a", dtype="float64"))) is not None


def test_a_mismatch_names_the_tolerance_that_was_used() -> None:
    mismatch = compare(result(), result(loss=2), table(of_outputs("loss")))
    assert mismatch is not None
    assert "(allowed: 0.5 + 0" in mismatch.message


def test_evidence_has_the_outputs_with_their_tolerance() -> None:
    assert tolerances_used(leaves(result()), table(of_outputs("params/*"))) == [
        Tolerances(by_dtype={"float32": ToleranceUsed(rtol=0, atol=0.001), "int64": ToleranceUsed(rtol=0, atol=0)}),
        OutputTolerances(outputs=[Used(output="params/0", dtype="float32", rtol=0, atol=0.5)]),
    ]
    assert [each.kind for each in tolerances_used(leaves(result()), table())] == ["tolerances"]


def test_a_known_mistake_is_recognized_within_it() -> None:
    known, mine = (Fingerprint(results={"public-1": sketch(result(weight=each))}) for each in (1, 1.4))
    assert is_alike(known, mine, table(of_outputs("params/0")))
    assert not is_alike(known, mine, table(of_outputs("loss")))


def test_the_page_says_how_closely_each_output_must_match() -> None:
    allowed = table(of_outputs("loss", atol=0), of_outputs("params/*", "mu/*", dtype="float32"))
    assert closeness(allowed) == ", within the tolerance of each output"
    assert list(tolerances(allowed))[:3] == [
        "`loss`: every element must equal the reference's, bit for bit",
        "`params/*` and `mu/*` in float32: an element may differ from the reference's by 5e-1 plus 0 times the "
        "absolute value of the reference's",
        "every other output in float32: an element may differ from the reference's by 1e-3 plus 0 times the "
        "absolute value of the reference's",
    ]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (of_outputs("loss", "params/*"), []),
        (of_outputs("los"), ["no output of the reference matches 'los' (did you mean 'loss'?)"]),
        (of_outputs("loss", "mu/*"), ["no output of the reference matches 'mu/*'"]),
        (of_outputs("loss", dtype="bfloat16"), ["what 'loss' matches is float32, not bfloat16"]),
        (of_outputs("count"), ["what 'count' matches is int64, not a float or complex dtype"]),
        (of_outputs("count", dtype="int64"), []),
    ],
)
def test_a_glob_must_match_an_output_of_its_dtype(add_one: Package, entry: OutputTolerance, said: list[str]) -> None:
    manifest = add_one.manifest.model_copy(update={"output_tolerances": [entry]})
    where = "problem.toml: output_tolerances.0.outputs: "
    assert unmatched_outputs(manifest, leaves(result())) == [f"{where}{each}" for each in said]


def test_a_package_with_an_output_that_does_not_exist_grades_nothing(add_one: Package, tmp_path: Path) -> None:
    def answer(message: dict[str, Any], values: dict[str, Any]) -> Frame:
        cases = [{"x": np.ones(2, np.float32)}]
        replies = {"load": {}, "cases": {"cases": cases}, "call": {"result": np.ones(2, np.float32), "observed": []}}
        return {"ok": True}, replies[message["op"]]

    manifest = add_one.manifest.model_copy(update={"output_tolerances": [of_outputs("loss")]})
    judge = Judge(NullSandbox(answer), b"s", tmp_path)
    with pytest.raises(GraderFault, match="no output of the reference matches 'loss'"):
        judge.answers(replace(add_one, manifest=manifest))
