"""A Pallas kernel, which only TPUs run, is compiled for them."""

import pytest

from grader.explorer.description import explored
from grader.inputs.explored_function import read_function

pytestmark = pytest.mark.xdist_group("tpu")
SOURCE = """
import jax
from jax.experimental import pallas as pl
from jax.sharding import PartitionSpec as P

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

def f(mesh, x):
    def local(x):
        doubled = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
        return jax.lax.psum(doubled, "d")

    return jax.shard_map(local, mesh=mesh, in_specs=P("d"), out_specs=P(), check_vma=False)(x)
"""


def test_a_kernel_of_ones_own_is_compiled_for_tpus(judge):
    function = read_function("f", "d=8", 'x: float32[64, 128] P("d")')
    [program] = explored(judge.inspect_function(function, SOURCE, chip="v5e")).programs
    assert program.is_only_on_chip
    assert [(each.collective, each.axes, each.line) for each in program.collectives] == [("all-reduce", ("d",), 12)]
    assert program.on_chip is not None
    # The kernel, and the sum of its results.
    assert len(program.on_chip.computations[0].steps) == 2
    assert program.on_chip.peak_bytes > program.on_chip.argument_bytes > 0
