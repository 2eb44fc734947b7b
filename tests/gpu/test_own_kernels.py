"""Pallas kernels in programs for GPUs: each call is named with its line, and no kernel is compiled."""

import pytest

from grader.core.errors import SubmissionFault
from grader.explorer.description import explored
from grader.inputs.explored_function import read_function

pytestmark = pytest.mark.xdist_group("gpu")
SOURCE = """
import jax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu, triton
from jax.sharding import PartitionSpec as P

def kernel(x_ref, o_ref, *scratch):
    o_ref[...] = x_ref[...] * 2

def f(mesh, x):
    def local(x):
        doubled = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
        return jax.lax.psum(doubled, "d")

    return jax.shard_map(local, mesh=mesh, in_specs=P("d"), out_specs=P(), check_vma=False)(x)
"""
FUNCTION = read_function("f", "d=8", 'x: float32[64, 128] P("d")')


@pytest.mark.parametrize(
    ("options", "target"),
    [("", "pallas.mosaic_gpu"), (", compiler_params=triton.CompilerParams()", "pallas.triton")],
    ids=["mosaic", "triton"],
)
def test_a_kernel_of_ones_own_is_named_with_its_line(judge, options, target):
    source = SOURCE.replace("x.dtype))(x)", f"x.dtype){options})(x)")
    [program] = explored(judge.inspect_function(FUNCTION, source, chip="h100")).programs
    assert program.is_only_on_chip
    assert [(each.collective, each.axes, each.line) for each in program.collectives] == [("all-reduce", ("d",), 13)]
    assert program.on_chip is not None
    assert program.on_chip.argument_bytes == 8 * 128 * 4
    steps = [step for part in program.on_chip.computations for step in part.steps]
    assert [(step.target, step.line) for step in steps if step.target] == [(target, 12)]


def test_a_kernel_for_tpus_says_why_gpus_have_none(judge):
    source = SOURCE.replace("x.dtype))(x)", "x.dtype), scratch_shapes=[tpu.VMEM(x.shape, x.dtype)])(x)")
    with pytest.raises(SubmissionFault) as failed:
        judge.inspect_function(FUNCTION, source, chip="h100")
    assert "JAX does not lower it for a GPU either: Unsupported memory space: vmem" in str(failed.value)
    assert failed.value.detail["traceback"][-1]["line"] == 12


def test_a_product_of_scaled_blocks_is_divided(judge):
    source = """
import jax
import jax.numpy as jnp

def f(x, y):
    scales = [jnp.ones((1, each.shape[0], 512 // 32), jnp.float8_e8m0fnu) for each in (x, y)]
    return jax.nn.scaled_matmul(x[None], y[None], *scales)
"""
    function = read_function("f", "d=4, m=2", 'x: float8_e4m3fn[1024, 512] P("d")\ny: float8_e4m3fn[2048, 512] P("m")')
    [program] = explored(judge.inspect_function(function, source, chip="b200")).programs
    assert (program.is_only_on_chip, program.collectives) == (True, [])
    assert [leaf.got_spec for leaf in program.leaves.leaves][-1] == "P(None, 'd', 'm')"
    assert program.on_chip.flops == 2 * 1024 * 2048 * 512 // 8
