"""Leaves by group, places by mesh and case, and the first difference between two runs."""

from dataclasses import replace

import numpy as np
import pytest

from grader.checks.program_subject import Pair, Subject, compare_runs
from grader.core.errors import GraderFault
from grader.program.measurement import Run
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, program, subject


def f32(*values: float) -> np.ndarray:
    return np.asarray(values, np.float32)


def run(*steps: dict[str, np.ndarray], replicas: dict[str, np.ndarray] | None = None) -> Run:
    return Run({}, steps, tuple([{}] * (len(steps) - 1) + [replicas or {}]))


def with_groups(**groups: list[str]) -> Subject:
    pair = Pair(program(EIGHT), program(EIGHT))
    return Subject(subject().spec.model_copy(update={"groups": groups}), {}, (pair,), ())


def test_a_group_has_the_leaves_that_one_of_its_patterns_matches():
    found = with_groups(params=["w", "v"])
    assert found.bytes_of("params", found.pairs[0].reference) == {"w": 32_768}
    assert found.leaves_of(["params"], found.pairs[0]) == {"w"}


def test_a_group_without_leaves_is_the_packages_fault():
    found = with_groups(params=["v"])
    with pytest.raises(GraderFault, match="names 'params', but the reference has no leaf"):
        found.leaves_of(["params"], found.pairs[0])


def test_outputs_are_leaves_only_without_a_state():
    found = with_groups(results=["loss"])
    with pytest.raises(GraderFault):
        found.bytes_of("results", found.pairs[0].reference)
    spec = found.spec.model_copy(update={"init": None})
    assert replace(found, spec=spec).bytes_of("results", found.pairs[0].reference) == {"loss": 4}


def test_what_a_program_returns_can_be_named():
    found = with_groups(results=["loss", "w"])
    assert found.outputs_of(["results"], found.pairs[0]) == {"w", "loss"}
    with pytest.raises(GraderFault, match="names 'x', but the reference returns no leaf"):
        found.outputs_of(["x"], found.pairs[0])


@pytest.mark.parametrize(
    ("cases", "place"),
    [
        (("a",), "mesh x=8 in a"),
        (("a", "b", "c"), "mesh x=8 in a, b and c"),
        (("a", "b", "c", "d"), "mesh x=8 in a, b, c and 1 more"),
        (("a", "b", "c", "d", "e"), "mesh x=8 in a, b, c and 2 more"),
    ],
)
def test_three_cases_are_named(cases: tuple[str, ...], place: str):
    pairs = (Pair(program(EIGHT), program(EIGHT), cases), Pair(program(EIGHT), program(EIGHT), ("z",)))
    assert Subject(subject().spec, {}, pairs, ()).place(pairs[0]) == place


def test_evidence_names_its_cases_if_its_mesh_has_several_programs():
    pairs = tuple(
        Pair(program(mesh), program(mesh), (case,)) for mesh, case in ((EIGHT, "a"), (EIGHT, "b"), (FOUR, "a"))
    )
    found = Subject(subject().spec, {}, pairs, ())
    assert [found.entry(pair) for pair in pairs] == [
        {"mesh": EIGHT, "cases": ["a"]},
        {"mesh": EIGHT, "cases": ["b"]},
        {"mesh": FOUR},
    ]


def test_a_single_step_needs_no_number():
    assert compare_runs(run({"w": f32(1)}), run({"w": f32(2)}), {})[0] == ""
    steps = [{"w": f32(1)}, {"w": f32(1)}]
    assert compare_runs(run(*steps), run(steps[0], {"w": f32(2)}), {})[0] == "after step 2"


def test_a_wrong_value_is_reported_before_replicas_that_differ():
    where, mismatch = compare_runs(run({"w": f32(1)}), run({"w": f32(2)}, replicas={"w": f32(1)}), {})
    assert mismatch.kind == "your result is twice the expected value"
    where, mismatch = compare_runs(run({"w": f32(1)}), run({"w": f32(1)}, replicas={"w": f32(2)}), {})
    assert (where, mismatch.kind) == ("", "devices that should hold equal values hold different ones")
    assert compare_runs(run({"w": f32(1)}), run({"w": f32(1)}), {}) == ("", None)


def test_six_missing_leaves_are_named():
    leaves = {name: f32(1) for name in "abcdefg"}
    mismatch = compare_runs(run(leaves), run({"z": f32(1)}), {})[1]
    assert mismatch.message == "the leaves are not the expected ones; missing: a, b, c, d, e, f; unknown: z."
