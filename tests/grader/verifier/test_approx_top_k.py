"""`jax.lax.approx_max_k` and `approx_min_k`: exact for CPUs, approximate for TPUs, and refused in other forms."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from grader.confined.artifact import APPROX_TOP_K, SERIALIZED, artifact_of
from grader.program.stablehlo import ExportedProgram
from grader.verifier.errors import ProgramRefused
from grader.verifier.load import read_artifact

FORM = [{"shape": [4, 64], "dtype": "float32"}]
X = jax.ShapeDtypeStruct((4, 64), "float32")


def exported_of(function) -> jax.export.Exported:
    return jax.export.export(jax.jit(lambda x: tuple(function(x))), platforms=["cpu"], disabled_checks=SERIALIZED)(X)


def read(exported: jax.export.Exported, chip: str = "") -> tuple[jax.export.Exported, ExportedProgram]:
    found, _, _, module = read_artifact(artifact_of(exported), {"d": 1}, FORM, chip=chip)
    return found, module


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("name", "dimension"), [("approx_max_k", 1), ("approx_min_k", 1), ("approx_max_k", 0)])
def test_on_cpus_it_is_the_exact_result(name, dimension, dtype):
    def found(x):
        return getattr(jax.lax, name)(x.astype(dtype), 3, reduction_dimension=dimension)

    program, module = read(exported_of(found))
    assert APPROX_TOP_K not in module.custom_calls
    x = np.random.default_rng(0).permutation(256).reshape(4, 64).astype("float32")
    values, indices = jax.jit(program.call)(x)
    sign = -1 if name == "approx_min_k" else 1
    wanted = np.argsort(-sign * x.astype(jnp.dtype(dtype)).astype("float32"), axis=dimension, kind="stable")
    wanted = np.take(wanted, range(3), axis=dimension)
    np.testing.assert_array_equal(indices, wanted)
    np.testing.assert_array_equal(values, np.take_along_axis(x.astype(jnp.dtype(dtype)), wanted, dimension))


def test_a_program_for_tpus_approximates():
    for chip, calls in (("tpu", [APPROX_TOP_K]), ("gpu", [])):
        program, module = read(exported_of(lambda x: jax.lax.approx_max_k(x, 3)), chip)
        assert list(module.custom_calls) == calls
        assert "is_fallback" not in program.mlir_module()


def test_a_form_that_xla_would_size_itself_is_refused():
    with pytest.raises(ProgramRefused, match="aggregate_to_topk=True"):
        read(exported_of(lambda x: jax.lax.approx_max_k(x, 3, aggregate_to_topk=False)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("top_k = 3 : i64", "top_k = 65 : i64"),
        ("top_k = 3 : i64", "top_k = -3 : i64"),
        ("top_k = 3 : i64", "top_k = 4 : i64"),
        ("reduction_dim = 1 : i64", "reduction_dim = 2 : i64"),
        ("reduction_dim = 1 : i64", "reduction_dim = -1 : i64"),
        ("reduction_input_size_override = -1 : i64", "reduction_input_size_override = 99 : i64"),
        ("recall_target = 0.949999988 : f32", "recall_target = 2.0 : f32"),
        ("recall_target = 0.949999988 : f32", 'recall_target = "much"'),
        ("is_fallback = true, ", "is_fallback = false, "),
        ("is_fallback = true, ", "is_fallback = true, more = true, "),
        ("called_computations", "has_side_effect = true, called_computations"),
    ],
)
@pytest.mark.parametrize("chip", ["", "tpu"])
def test_options_that_do_not_fit_the_shapes_are_refused(old, new, chip):
    exported = exported_of(lambda x: jax.lax.approx_max_k(x, 3))
    text = exported.mlir_module()
    assert text.count(old) == 1
    forged = dataclasses.replace(exported, mlir_module_serialized=text.replace(old, new).encode())
    forged = dataclasses.replace(forged, disabled_safety_checks=())
    with pytest.raises(ProgramRefused, match="in a form that is not accepted here"):
        read_artifact(bytes(forged.serialize()), {"d": 1}, FORM, chip=chip)


def test_a_comparison_of_other_types_is_refused():
    exported = exported_of(lambda x: jax.lax.approx_max_k(x, 3))
    text = exported.mlir_module().replace(
        "called_computations = [@top_k_gt_f32_comparator]", "called_computations = [@main]"
    )
    forged = dataclasses.replace(exported, mlir_module_serialized=text.encode(), disabled_safety_checks=())
    with pytest.raises(ProgramRefused, match="cannot be read"):
        read_artifact(bytes(forged.serialize()), {"d": 1}, FORM)
