"""What was measured of a rejected submission, in words and as a hash: alike for attempts that are wrong alike."""

import pytest

from app.grading.queue.fault_signature import signature_of
from app.grading.queue.leases import columns_of, faults_of
from grader.verdicts.evidence import (
    Amount,
    Amounts,
    Collectives,
    CollectiveSum,
    Difference,
    Evidence,
    Factor,
    Factors,
    Facts,
    FailedCase,
    Fault,
    Leaf,
    Leaves,
    Tolerances,
    Traffic,
    WorstElement,
)
from grader.verdicts.fingerprint import Fingerprint
from grader.verdicts.verdict import CheckResult, Verdict

EIGHT, FOUR = {"fsdp": 8}, {"fsdp": 4}


def verdict(*evidence: Evidence, check: str = "values", reason: str = "wrong_value") -> Verdict:
    def result(name: str, *, passed: bool, found: list[Evidence]) -> CheckResult:
        return CheckResult(
            id=name, title=name, passed=passed, points=0, max_points=1, trust="verified", message="x", evidence=found
        )

    checks = [
        result("first", passed=True, found=[FailedCase(case="not-read")]),
        result(check, passed=False, found=list(evidence)),
        result("last", passed=False, found=[FailedCase(case="not-read-either")]),
    ]
    values = {"problem": "p", "version": "v", "status": "rejected", "reason": reason, "score": 0}
    return Verdict.model_validate(values | {"checks": checks, "cases": [], "walls": []})


def worst(got: str, case: str = "public-1") -> FailedCase:
    element = WorstElement(index=[0, 3], expected="1.25", got=got, relative_error=1.0)
    return FailedCase(case=case, difference=Difference(expected="[…]", got="[…]", worst=element))


def wrong_leaf(path: str = "params/kernel", got: str = "P()", *, ok: bool = False) -> Leaf:
    slices = {"expected": (((0, 1),),), "got": None if got == "" else (((0, 8),),)}
    specs = {"expected_spec": "P('fsdp')", "got_spec": got}
    return Leaf(path=path, when="out", shape=(8,), dtype="float32", ok=ok, **specs, **slices)


def summed(
    mine: int | None, reference: int | None, axes: tuple[str, ...] = ("fsdp",), *, in_loop: bool = False
) -> CollectiveSum:
    def traffic(number: int | None) -> Traffic | None:
        return None if number is None else Traffic(executions=number, bytes=number * 100, ring_bytes=0)

    sums = {"mine": traffic(mine), "reference": traffic(reference)}
    return CollectiveSum(collective="all-reduce", axes=axes, group_size=8, in_loop=in_loop, **sums)


def communication(mine: int | None, reference: int | None) -> Collectives:
    return Collectives(mesh=EIGHT, sums=[summed(mine, reference)], mine=[], reference=[])


def amounts(mine: int | None, reference: int | None, at_most: int | None) -> Amounts:
    row = Amount(name="temporaries", mine=mine, reference=reference, whole=None, at_most=at_most)
    return Amounts(mesh=EIGHT, title="t", unit="bytes", whole_title="w", rows=[row])


def factors(mine: float | None) -> Factors:
    return Factors(mesh=FOUR, factors=[Factor(name="argument bytes", mine=mine, reference=2.0)])


def facts(mesh: dict[str, int], **values: bool | int | str) -> Facts:
    return Facts(mesh=mesh, about="second step", values=values)


@pytest.mark.parametrize(
    ("evidence", "sign"),
    [
        (worst("2.5000001"), "public-1: [0][3] is 2.5, not 1.25"),
        (FailedCase(case="c", difference=Difference(expected="(2,)", got="(3,)")), "c: (3,), not (2,)"),
        (FailedCase(case="c", difference=Difference(expected=["a", "b"], got=["a"])), "c: a, not a, b"),
        (FailedCase(case="c", fault=Fault(type="TypeError")), "c: TypeError"),
        (FailedCase(case="c"), "c: wrong"),
        (Fault(ended_by="SIGKILL"), "SIGKILL"),
        (Fault(line=3, column=1), "not valid Python"),
        (Fault(), "ended early"),
        (Leaves(mesh=EIGHT, leaves=[wrong_leaf()]), "params/kernel in the new state is P(), not P('fsdp')"),
        (Leaves(mesh=EIGHT, leaves=[wrong_leaf(got="")]), "params/kernel in the new state is missing"),
        (communication(2, 1), "all_reduce over fsdp: 2 instead of 1, 2 times the reference in bytes"),
        (communication(None, 1), "all_reduce over fsdp: none"),
        (communication(3, None), "all_reduce over fsdp: 3, and none in the reference"),
        (communication(0, 1), "all_reduce over fsdp: none"),
        (communication(3, 0), "all_reduce over fsdp: 3, and none in the reference"),
        (
            Collectives(mesh=EIGHT, sums=[summed(None, 1, (), in_loop=True)], mine=[], reference=[]),
            "all_reduce in groups of 8 in a loop: none",
        ),
        (amounts(30, 10, 15), "temporaries: 3 times the reference"),
        (amounts(30, 0, 15), "temporaries: 30, and none in the reference"),
        (factors(1.06), "argument bytes change by a factor of 1.06"),
        (facts(EIGHT, retraced=True), "second step: retraced yes"),
        (facts(EIGHT, retraced=False, traces=2), "second step: retraced no, traces 2"),
    ],
)
def test_what_was_measured_in_words(evidence, sign):
    found = signature_of(verdict(evidence))
    assert found["signs"] == [sign]
    assert len(str(found["fingerprint"])) == 16


@pytest.mark.parametrize(
    "evidence",
    [
        communication(2, 2),
        amounts(15, 10, 15),
        amounts(None, 10, 15),
        amounts(30, 10, None),
        factors(2.0),
        factors(None),
    ],
)
def test_what_is_as_it_should_be_is_not_mentioned(evidence):
    assert signature_of(verdict(evidence)) == {"signs": [], "fingerprint": None}


def test_a_leaf_of_the_input_state_is_called_that():
    leaf = wrong_leaf().model_copy(update={"when": "in"})
    assert signature_of(verdict(Leaves(mesh=EIGHT, leaves=[leaf])))["signs"] == [
        "params/kernel in the input state is P(), not P('fsdp')"
    ]


def test_facts_of_a_further_mesh_are_not_mentioned():
    assert signature_of(verdict(facts(EIGHT, traces=2), facts(FOUR, traces=3)))["signs"] == ["second step: traces 2"]


def test_a_wrong_scalar_has_no_index():
    element = WorstElement(index=[], expected="1.25", got="2.5", relative_error=1.0)
    case = FailedCase(case="c", difference=Difference(expected="1.25", got="2.5", worst=element))
    assert signature_of(verdict(case))["signs"] == ["c: it is 2.5, not 1.25"]


def test_the_longest_sign_is_not_shortened():
    ending = " in the new state is P(), not P('fsdp')"
    path = "x" * (120 - len(ending))
    assert signature_of(verdict(Leaves(mesh=EIGHT, leaves=[wrong_leaf(path)])))["signs"] == [path + ending]


def test_the_first_public_case_and_the_first_mesh_that_differs_speak_for_the_others():
    assert signature_of(verdict(worst("2.5"), worst("9", "public-2")))["signs"] == ["public-1: [0][3] is 2.5, not 1.25"]
    right, wrong = wrong_leaf(ok=True), wrong_leaf(got="P(None, 'fsdp')")
    meshes = [
        Leaves(mesh=EIGHT, leaves=[right]),
        Leaves(mesh=FOUR, leaves=[wrong]),
        Leaves(mesh=EIGHT, leaves=[wrong_leaf()]),
    ]
    assert signature_of(verdict(*meshes))["signs"] == [
        "params/kernel in the new state is P(None, 'fsdp'), not P('fsdp')"
    ]


def test_a_long_list_is_shortened_and_the_hash_is_of_all_of_it():
    many = [wrong_leaf(f"params/{number}") for number in range(9)]
    one, other = (signature_of(verdict(Leaves(mesh=EIGHT, leaves=each))) for each in (many, many[:8]))
    assert one["signs"] == other["signs"]
    assert len(one["signs"]) == 4
    assert one["fingerprint"] != other["fingerprint"]
    [long] = signature_of(verdict(Leaves(mesh=EIGHT, leaves=[wrong_leaf("x" * 300)])))["signs"]
    assert len(long) == 120
    assert long.endswith("…")


def test_the_reason_and_the_check_are_part_of_the_hash_and_rounding_is_not():
    found = signature_of(verdict(worst("2.5")))["fingerprint"]
    assert signature_of(verdict(worst("2.5000002")))["fingerprint"] == found
    assert signature_of(verdict(worst("2.6")))["fingerprint"] != found
    assert signature_of(verdict(worst("2.5"), check="update"))["fingerprint"] != found
    assert signature_of(verdict(worst("2.5"), reason="wrong_shape"))["fingerprint"] != found


def test_without_a_measurement_there_is_none():
    nothing = Tolerances(by_dtype={})
    assert signature_of(verdict(nothing)) == {"signs": [], "fingerprint": None}
    assert faults_of(verdict(nothing)) == {
        "checks": ["values", "last"],
        "cases": [],
        "misconception": None,
        "signs": [],
        "fingerprint": None,
    }


def test_only_a_rejected_attempt_that_nothing_explains_keeps_its_fingerprint():
    mine = Fingerprint(results={"public-1": {"": "float32[] \x00"}})
    unexplained = verdict(worst("2.5")).with_fingerprint(mine)
    assert columns_of(unexplained, counts=True)["fingerprint"] == {"results": {"public-1": {"": "float32[] \ufffd"}}}
    large = Fingerprint(results={"public-1": {str(leaf): "float32[1000] 1 2 3 4 5 6" for leaf in range(5_000)}})
    for other in (
        unexplained.model_copy(update={"misconception": "You added two."}),
        unexplained.model_copy(update={"score": None}),
        unexplained.with_fingerprint(mine.model_copy(update={"shown": False})),
        unexplained.with_fingerprint(large),
        unexplained.with_fingerprint(None),
    ):
        assert columns_of(other, counts=True)["fingerprint"] is None
