"""The rules about what gradings measure. A fake judge reports what a test wants."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.authoring.measurement_check import of_answers, proposed_limits, with_changed_input
from app.authoring.package_check import judge_package
from grader.core.case import Case
from grader.core.context import QUIET
from grader.package.package import Tolerance
from grader.review.key_order import with_keys_reversed
from grader.review.reader import read_package
from grader.verdicts.package_study import Answers, PackageStudy, Spent
from tests.app.authoring.test_package_check import ACCEPTED, DOUBLED, ERROR, LITERAL, FakeJudge

PACKAGE = read_package(Path(__file__).parents[2] / "grader" / "packages" / "add_one")
REORDERED = with_keys_reversed(PACKAGE.reference, PACKAGE.manifest.entry)
USUAL = Spent(cpu_s=1.0, wall_s=2.0, peak_bytes=400 << 20)
X = np.arange(1, 5, dtype=np.float32) / 3


class MeasuringJudge(FakeJudge):
    """Also reports an error for each source, and what it used; the reference adds 1."""

    def __init__(self, *, errors=None, spent=USUAL, adds=1.0, hidden=(X, X[:3]), **verdicts):
        super().__init__(**{REORDERED: ACCEPTED, **verdicts})
        self._errors = {PACKAGE.reference: 0.0, **{each.source: 1e9 for each in PACKAGE.rejected}, **(errors or {})}
        self._spent = spent
        self._adds = adds
        self._hidden = hidden
        self.others = 0

    def judge(self, package, source, context, *, watch=None, own=None, **options):
        verdict = super().judge(package, source, context, **options)
        self.others += own is not None
        error = self._errors.get(source, 0.1)
        if watch is not None and verdict.reason != "error":
            watch(PackageStudy({"": error.pop(0) if isinstance(error, list) else error}, (self._spent,)))
        return verdict

    def answers(self, package, context, cases=None):
        hidden = [Case(f"hidden-{number}", False, {"x": x + 2}) for number, x in enumerate(self._hidden, 1)]
        cases = tuple(cases or [Case("public-1", True, {"x": X}), *hidden])
        return Answers(cases, {"": {case.id: {"": case.inputs["x"] + np.float32(self._adds)} for case in cases}})


def studied(grader, **options):
    said = []
    with ThreadPoolExecutor(2) as executor:
        found = judge_package(PACKAGE, grader, QUIET, executor, said.append, **{"runs": 3, **options})
    return found, said


def rules(found):
    return [(each.rule, each.file) for each in found.faults]


def test_a_package_without_faults_and_what_was_measured():
    grader = MeasuringJudge()
    found, said = studied(grader)
    assert found.faults == ()
    assert found.measured == {
        "largest_error_of_accepted": 0.1,
        "smallest_error_of_wrong_value": 1e9,
        "wrong_on_some_meshes_only": [],
        "used": {"time_s": 1.0, "wall_s": 2.0, "memory_mb": 400.0},
        "proposed_limits": {"time_s": 10.0, "wall_s": 30.0, "memory_mb": 1024.0},
    }
    assert said[-3:] == ["reference.py, run 2 of 3", "reference.py, run 3 of 3", "what the reference returns"]
    # The five submissions, and the reference twice more, and once with its keys reversed.
    assert (grader.calls, grader.others) == (8, 0)


def test_a_thorough_check_runs_accepted_submissions_on_other_inputs():
    grader = MeasuringJudge(errors={PACKAGE.files[LITERAL]: [0.1, 0.2, 0.7, 0.3]})
    found, _ = studied(grader, is_thorough=True)
    assert grader.others == 3 * len(PACKAGE.accepted)
    assert rules(found) == [("tight-tolerance", "problem.toml")]
    assert found.faults[0].message == f"{LITERAL} differs from the reference by 0.7 times the tolerance"


def test_a_size_that_no_hidden_case_varies():
    found, _ = studied(MeasuringJudge(hidden=(X, X * 2)))
    assert rules(found) == [("unvaried-input", "cases.py")]
    assert found.faults[0].message == "dimension 0 of `x` is 4 in every hidden case"
    assert found.has_errors


def test_nothing_is_measured_where_a_verdict_is_wrong():
    found, _ = studied(MeasuringJudge(**{PACKAGE.files[LITERAL]: ERROR}))
    assert rules(found) == [("accepted", LITERAL)]
    assert found.measured == {}


def test_a_reference_that_is_accepted_only_sometimes():
    found, _ = studied(MeasuringJudge(**{PACKAGE.reference: [ACCEPTED, ACCEPTED, ERROR]}))
    assert rules(found) == [("flaky", "reference.py")]
    assert found.faults[0].message == "1 of 3 runs were rejected. Values: Off by one."
    assert found.has_errors


def test_a_reference_whose_results_differ():
    found, _ = studied(MeasuringJudge(errors={PACKAGE.reference: [0.0, 0.6, 0.0]}))
    assert rules(found) == [("flaky", "reference.py")]
    assert "differ by 0.6 times the tolerance" in found.faults[0].message


def test_a_reference_that_is_accepted_with_one_order_of_keys_only():
    found, _ = studied(MeasuringJudge(**{REORDERED: ERROR}))
    assert rules(found) == [("key-order", "reference.py")]
    assert found.faults[0].message == "with its keys reversed it is rejected. Values: Off by one."


def test_an_accepted_submission_near_the_tolerance():
    found, _ = studied(MeasuringJudge(errors={PACKAGE.files[LITERAL]: 0.8}))
    assert rules(found) == [("tight-tolerance", "problem.toml")]


def test_a_wrong_value_near_the_tolerance():
    found, _ = studied(MeasuringJudge(errors={PACKAGE.files[DOUBLED]: 3.0}))
    assert rules(found) == [("loose-tolerance", DOUBLED)]
    assert found.measured["smallest_error_of_wrong_value"] == 3.0


@pytest.mark.parametrize(
    ("spent", "rule", "line", "words"),
    [
        (Spent(2.0, 1.0, 400 << 20), "tight-limit", 15, "use up to 2 of time_s = 3; proposed: time_s = 10"),
        (Spent(1.0, 1.0, 6000 << 20), "tight-limit", 17, "proposed: memory_mb = 12288"),
        (Spent(0.1, 99.0, 10 << 20), "loose-limit", 17, "use up to 10 of memory_mb = 9000; proposed: memory_mb = 1024"),
    ],
)
def test_limits_that_do_not_fit(spent, rule, line, words):
    text = PACKAGE.files["problem.toml"]
    limits = PACKAGE.manifest.limits.model_copy(update={"memory_mb": 9000})
    changed = replace(PACKAGE, manifest=PACKAGE.manifest.model_copy(update={"limits": limits}))
    assert "time_s = 3.0" in text
    with ThreadPoolExecutor(2) as executor:
        found = judge_package(changed, MeasuringJudge(spent=spent), QUIET, executor, lambda _: None, runs=2)
    (only,) = [each for each in found.faults if each.rule == rule]
    assert (only.file, only.line) == ("problem.toml", line)
    assert words in only.message


def test_what_wrong_submissions_use_counts_for_no_limit():
    assert proposed_limits({"submissions/rejected/time_limit/loop.py": PackageStudy({}, (USUAL,))}) == {}


def answers(*cases, **of):
    """`of` is by mesh: the leaves of each case."""
    made = [Case(f"public-{number}", True, inputs) for number, inputs in enumerate(cases, 1)]
    return Answers(
        tuple(made), {mesh: dict(zip((each.id for each in made), leaves, strict=True)) for mesh, leaves in of.items()}
    )


def found_in(given, changed=None, tolerance=None):
    return [(each.rule, each.message) for each in of_answers(given, changed or {}, tolerance or {})]


def test_an_output_that_no_case_changes():
    base = answers({"x": X}, {"x": X + 1}, a=[{"sum": X, "bias": X}, {"sum": X + 1, "bias": X}])
    assert found_in(base) == [("constant-output", "the output bias is the same in every case")]
    # Another input changes it, so only the cases are too few.
    other = {"x": answers({"x": 2 * X}, a=[{"sum": X + 2, "bias": X + 3}])}
    assert found_in(base, other) == []
    assert found_in(answers({"x": X}, a=[{"bias": X}])) == []


def test_a_count_may_be_the_same():
    count = np.asarray(3, np.int32)
    assert found_in(answers({"x": X}, {"x": X}, a=[{"count": count, "y": X}, {"count": count, "y": X + 1}])) == []


def test_an_output_that_is_nearly_zero():
    small = answers({"x": X}, {"x": X}, a=[{"": X * 1e-7}, {"": X * 2e-7}])
    assert found_in(small)[0] == ("zero-output", "the result is zero within the tolerance in every case")
    assert found_in(small, tolerance={"float32": Tolerance(rtol=1e-5, atol=1e-12)}) == []


def test_an_input_that_nothing_depends_on():
    base = answers({"x": X, "y": X}, {"x": X + 1, "y": X}, a=[{"": X}, {"": X + 1}])
    same, moved = answers({"x": X}, a=[{"": X}]), answers({"x": X}, a=[{"": X + 3}])
    assert found_in(base, {"x": moved, "y": same}) == [("unused-input", "another `y` gives the same result")]


def test_meshes_that_disagree():
    base = answers({"x": X}, {"x": X + 1}, a=[{"": X}, {"": X + 1}], b=[{"": X}, {"": X + 2}])
    ((rule, message),) = found_in(base)
    assert rule == "mesh-difference"
    assert message.startswith("in public-2, the result on mesh b differs from mesh a by ")


def test_a_tolerance_that_permits_a_narrower_dtype():
    base = answers({"x": X}, {"x": X + 1}, a=[{"": X}, {"": X + 1}])
    wide = {"float32": Tolerance(rtol=1e-2, atol=1e-6)}
    assert found_in(base, tolerance=wide) == [("loose-tolerance", "every value passes when it is rounded to bfloat16")]
    # Small integers are the same in bfloat16, so rounding them shows nothing.
    whole = np.arange(4, dtype=np.float32)
    assert found_in(answers({"x": X}, {"x": X}, a=[{"": whole}, {"": whole + 1}]), tolerance=wide) == []


def test_each_input_is_changed_by_itself():
    inputs = {"seed": 3, "x": X, "ones": np.ones(3, np.float32), "lr": 0.1, "parts": 2}
    changed = with_changed_input([Case("hidden-1", False, {}), Case("public-1", True, inputs)])
    assert list(changed) == ["seed", "x", "lr"]
    for name, case in changed.items():
        assert [other for other in inputs if case.inputs[other] is not inputs[other]] == [name]
