"""Inputs that the author of a run chose: what they are, and that the reference runs on the same ones."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.core.case import Case
from grader.core.errors import SubmissionFault
from grader.core.wire import Frame
from grader.inputs.own_inputs import OwnInputs, draw_own
from grader.judging.judge import Judge
from grader.package.package import InputSpec, Package
from grader.sandbox.null_sandbox import NullSandbox
from tests.grader.judging.test_judge import HIDDEN, INPUT, Table
from tests.grader.shipped_submissions import package

PUBLIC = Case(
    "public-1",
    True,
    {
        "seed": 3,
        "x": np.arange(12, dtype=np.int32).reshape(3, 4),
        "parts": {"mask": np.asarray([True, False]), "rates": [np.asarray(0.5, np.float16), 2.0]},
        "devices": 8,
    },
)


def test_they_have_the_form_of_the_public_case_and_only_its_values():
    (drawn,) = draw_own([PUBLIC, Case("hidden-1", False, {"seed": 9, "x": np.zeros(99)})], OwnInputs(7))
    assert (drawn.id, drawn.public, list(drawn.inputs)) == ("own-1", True, list(PUBLIC.inputs))
    assert (drawn.inputs["seed"], drawn.inputs["devices"]) == (7, 8)
    x = drawn.inputs["x"]
    assert isinstance(x, np.ndarray)
    assert (x.shape, x.dtype) == ((3, 4), np.int32)
    assert set(x.flat) <= set(range(12))
    assert not np.array_equal(x, PUBLIC.inputs["x"])
    parts = drawn.inputs["parts"]
    assert isinstance(parts, dict)
    assert (parts["mask"].dtype, parts["rates"][0].dtype, parts["rates"][1]) == (np.bool_, np.float16, 2.0)


def test_a_seed_draws_the_same_again_and_another_one_others():
    first, again, other = (draw_own([PUBLIC], OwnInputs(seed))[0].inputs["x"] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_run_on_them_is_compared_with_the_reference_on_them(add_one: Package, tmp_path: Path):
    seen = []

    def right(x):
        seen.append(x)
        return {"result": x + 1, "observed": []}

    judge = Judge(NullSandbox(Table(add_one, right)), b"s", tmp_path)
    verdict = judge.judge(add_one, "the source", hidden=False, own=OwnInputs(5))
    assert (verdict.status, verdict.score) == ("accepted", None)
    assert [(case.id, case.public) for case in verdict.cases] == [("own-1", True)]
    (x,) = seen
    assert set(x.flat) <= set(INPUT.flat)
    assert not set(x.flat) & set(HIDDEN.flat)


def test_a_wrong_value_shows_mine_and_the_references(add_one: Package, tmp_path: Path):
    judge = Judge(NullSandbox(Table(add_one, lambda x: {"result": x, "observed": []})), b"s", tmp_path)
    verdict = judge.judge(add_one, "the source", hidden=False, own=OwnInputs(5))
    assert (verdict.status, verdict.reason) == ("rejected", "wrong_value")
    assert "expected" in verdict.cases[0].message


def _typing(add_one: Package) -> Package:
    manifest = add_one.manifest.model_copy(update={"inputs": {"x": InputSpec(dtype="float32", shape=["n"])}})
    return replace(add_one, manifest=manifest)


def test_a_run_on_typed_values_has_one_case_with_them(add_one: Package, tmp_path: Path):
    package = _typing(add_one)
    judge = Judge(NullSandbox(Table(package, lambda x: {"result": x + 1, "observed": []})), b"s", tmp_path)
    verdict = judge.judge(package, "the source", hidden=False, own=OwnInputs(5, None, {"x": [7, 8, 9]}))
    assert (verdict.status, [case.id for case in verdict.cases]) == ("accepted", ["own-1"])


def test_values_on_which_the_reference_fails_reject_the_run_and_say_so(add_one: Package, tmp_path: Path):
    class Failing(Table):
        def __call__(self, message: dict, values: dict) -> Frame:
            if message["op"] == "call" and self.loaded == package.reference and values["args"][0].size == 3:
                raise SubmissionFault("error", "cannot divide by zero", type="ZeroDivisionError")
            return super().__call__(message, values)

    package = _typing(add_one)
    judge = Judge(NullSandbox(Failing(package, lambda x: {"result": x + 1})), b"s", tmp_path)
    verdict = judge.judge(package, "the source", hidden=False, own=OwnInputs(5, None, {"x": [0, 0, 0]}))
    assert (verdict.status, verdict.reason) == ("rejected", "error")
    assert verdict.checks[0].message == (
        "The reference fails on these inputs, so there is nothing to compare with: "
        "ZeroDivisionError: cannot divide by zero. Choose other values."
    )


@pytest.mark.parametrize("mesh", [{"fsdp": 4}, None])
def test_a_program_runs_on_the_chosen_mesh_or_on_all(judge: Judge, mesh: dict[str, int] | None):
    problem = package("psum_scatter_mean")
    verdict = judge.judge(problem, problem.reference, hidden=False, own=OwnInputs(11, mesh))
    assert verdict.status == "accepted", verdict
    assert [case.id for case in verdict.cases] == ["own-1"]
    measured = {str(entry.mesh) for check in verdict.checks for entry in check.evidence if hasattr(entry, "mesh")}
    assert len(measured - {"None"}) == (1 if mesh else 2)
