"""The estimate of whether what hides a collective is long enough, on programs that the compiler schedules."""

import pytest

from tests.grader.on_chips import on_chip

pytestmark = pytest.mark.xdist_group("tpu")
PERMUTES = """
import jax
from jax.experimental import pallas as pl
from jax.sharding import PartitionSpec as P

PERM = [(j, (j + 1) % 8) for j in range(8)]


def f(mesh, x, w):
    def local(x, w):
        first = jax.lax.ppermute(x, "data", PERM)
        second = jax.lax.ppermute(x + 1, "data", PERM)
        return x @ w, first * 2, second * 3

    d = P("data")
    return jax.shard_map(local, mesh=mesh, in_specs=(d, P()), out_specs=(d, d, d))(x, w)
"""
KERNEL = PERMUTES.replace("x @ w,", "pl.pallas_call(twice, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x),")
KERNEL = KERNEL.replace("out_specs=(d, d, d)", "out_specs=(d, d, d), check_vma=False")
KERNEL += "\n\ndef twice(x, y):\n    y[...] = x[...] * 2\n"
INPUTS = 'x: float32[8192, 1024] P("data")\nw: float32[1024, 1024]'


@pytest.mark.parametrize(("chip", "sent_per_s"), [("v5e", 50e9), ("v6e", 100e9)])
def test_two_permutes_over_one_axis_take_turns(judge, chip, sent_per_s):
    [program] = on_chip(judge, chip, PERMUTES, inputs=INPUTS).computations
    first, second = sorted(program.collectives, key=lambda each: each.start)
    assert {each.bytes // 8 for each in (first, second)} == {4 << 20}
    seconds = (4 << 20) / sent_per_s
    clock = {"v5e": 1.5e9, "v6e": 1.75e9}[chip]
    assert first.estimated_cycles == second.estimated_cycles == pytest.approx(seconds * clock, rel=0.01)
    assert second.queued_cycles > 0
    assert not second.is_hidden_long_enough


def test_a_kernel_of_ones_own_is_no_cover_of_known_length(judge):
    [program] = on_chip(judge, "v5e", KERNEL, inputs=INPUTS).computations
    beside_kernel = [each for each in program.collectives if each.hidden_without_estimate]
    assert beside_kernel
    assert all(each.is_hidden_long_enough is None for each in beside_kernel)
