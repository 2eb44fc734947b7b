"""Where the arrays inside a program live, by line."""

import pytest

from grader.explorer.description import explored
from grader.explorer.exploration import ExploredArray
from grader.inputs.explored_function import read_function

pytestmark = pytest.mark.xdist_group("explored functions")
SOURCE = """
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

def f(mesh, x, w1, w2):
    h = jax.nn.relu(x @ w1)

    def body(c, _):
        return jnp.tanh(c @ w1 @ w2), None

    c, _ = jax.lax.scan(body, x, None, length=3)
    local = lambda h: jax.lax.psum(h * 2, "model")
    s = jax.shard_map(local, mesh=mesh, in_specs=P("data", "model"), out_specs=P("data"))(h)
    return jax.lax.with_sharding_constraint(h @ w2, P(None, ("data", "model"))), c, s
"""
INPUTS = """
x: float32[64, 128] P("data")
w1: float32[128, 256] P(None, "model")
w2: float32[256, 128] P("model")
"""


def arrays_of(judge, source: str, mesh: str, inputs: str) -> list[ExploredArray]:
    [program] = explored(judge.inspect_function(read_function("f", mesh, inputs), source)).programs
    return program.arrays


def rows(found: list[ExploredArray]) -> list[tuple[int | None, str, str, str, list[str], int]]:
    return [
        (each.line, each.operation, f"{each.dtype}{list(each.shape)}", each.spec, list(each.inside), each.bytes)
        for each in found
    ]


def test_each_array_has_its_line_its_spec_and_its_bytes(judge):
    by_hand = ["data", "model"]
    assert rows(arrays_of(judge, SOURCE, "data=4, model=2", INPUTS)) == [
        (7, "dot_general", "float32[64, 256]", "P('data', 'model')", [], 16 * 128 * 4),
        # In a function of JAX, an operation has the line of the call.
        (7, "maximum", "float32[64, 256]", "P('data', 'model')", [], 16 * 128 * 4),
        # `shard_map` says where it wants it.
        (14, "reshard", "float32[64, 256]", "P('data', 'model')", [], 16 * 128 * 4),
        (10, "dot_general", "float32[64, 256]", "P('data', 'model')", [], 16 * 128 * 4),
        (10, "dot_general", "float32[64, 128]", "P('data')", [], 16 * 128 * 4),
        (10, "tanh", "float32[64, 128]", "P('data')", [], 16 * 128 * 4),
        (13, "multiply", "float32[16, 128]", "P()", by_hand, 16 * 128 * 4),
        (13, "all_reduce", "float32[16, 128]", "P()", by_hand, 16 * 128 * 4),
        (14, "shard_map", "float32[64, 128]", "P('data')", [], 16 * 128 * 4),
        # Shardy carries a constraint back to what computes the array.
        (15, "dot_general", "float32[64, 128]", "P(None, ('data', 'model'))", [], 64 * 16 * 4),
        (15, "reshard", "float32[64, 128]", "P(None, ('data', 'model'))", [], 64 * 16 * 4),
    ]


def test_arrays_that_are_alike_are_one_row(judge):
    source = "import jax.numpy as jnp\n\ndef f(x):\n    for _ in range(5):\n        x = jnp.sin(x)\n    return x\n"
    [row] = arrays_of(judge, source, "data=2", 'x: bfloat16[8] P("data")')
    assert (row.line, row.operation, row.number, row.bytes, row.dtype) == (5, "sine", 5, 8, "bfloat16")


def test_a_part_of_an_axis_is_named_as_such(judge):
    """Eight rows in four groups of two: the four devices of `data` split the groups and, by a reshape, nothing else."""
    source = "def f(x):\n    return x.reshape(2, 8) * 2\n"
    [_, doubled] = arrays_of(judge, source, "data=4", 'x: float32[16] P("data")')
    assert (doubled.spec, doubled.bytes) == ("P('half of data', 'half of data')", 16)


def test_a_function_that_computes_nothing_has_no_arrays(judge):
    assert arrays_of(judge, "def f(x):\n    return x\n", "data=2", "x: float32[8]") == []


def test_the_jaxpr_shows_types_with_shardings_and_what_varies(judge):
    source = """
import jax
from jax.sharding import PartitionSpec as P

def f(mesh, x):
    y = x * 2
    return jax.shard_map(lambda y: jax.lax.psum(y, "data"), mesh=mesh, in_specs=P("data"), out_specs=P())(y)
"""
    function = read_function("f", "data=4!", 'x: float32[64, 8] P("data")')
    [program] = explored(judge.inspect_function(function, source)).programs
    [jaxpr] = program.jaxpr
    rows = [(each.text.strip(), each.line) for each in jaxpr.instructions]
    assert ("b:f32[64@data,8] = mul a 2.0:f32[]", 6) in rows
    assert ("jaxpr={ lambda ; d:f32[16,8]{V:data}. let", None) in rows
    assert ("e:f32[16,8] = psum_invariant[axes=('data',)] d", 7) in rows
