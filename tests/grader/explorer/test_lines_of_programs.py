"""Nearly all FLOPs and bytes of real programs have a source line, and it is the right one."""

import pytest

from app.learning.explorer.examples import all_examples
from grader.explorer.description import explored
from grader.explorer.exploration import ExploredProgram
from grader.inputs.explored_function import read_function

pytestmark = pytest.mark.xdist_group("explored functions")

PIPELINE = """\
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

def f(w, x):
    pinned = lambda a: jax.lax.with_sharding_constraint(a, P("stage", "data"))

    def stage(w, h):
        product = h @ w
        return jnp.tanh(product)

    def tick(carry, t):
        held, out = carry
        feed = jax.lax.dynamic_index_in_dim(x, jnp.minimum(t, 3), keepdims=False)
        first = jax.lax.broadcasted_iota(jnp.int32, held.shape, 0) == 0
        h = pinned(jax.vmap(stage, spmd_axis_name="stage")(w, pinned(jnp.where(first, feed[None], held))))
        out = jax.lax.dynamic_update_index_in_dim(out, h[-1], jnp.maximum(t - 3, 0), 0)
        return (pinned(jnp.roll(h, 1, axis=0)), out), None

    start = pinned(jnp.zeros((4, *x.shape[1:])))
    return jax.lax.scan(tick, (start, jnp.zeros_like(x)), jnp.arange(7))[0][1]
"""
ATTENTION = """\
import jax
import jax.numpy as jnp

def loss_of(w, x):
    q, k, v = (jnp.einsum("bld,dhe->blhe", x, w[name]) for name in "qkv")
    scores = jnp.einsum("bqhe,bkhe->bhqk", q, k)
    weights = jax.nn.softmax(scores)
    heads = jnp.einsum("bhqk,bkhe->bqhe", weights, v)
    return jnp.mean(jnp.einsum("blhe,hed->bld", heads, w["o"]) ** 2)

def f(w, x):
    return jax.value_and_grad(loss_of)(w, x)
"""
COLUMN = """\
import jax
import jax.numpy as jnp

def f(w, v, x):
    h = jnp.tanh(x @ w)
    y = h @ v
    return jnp.sum(jax.nn.relu(y), axis=0)
"""
RING = """\
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

def f(mesh, q, k):
    def local(q, k):
        def turn(carry, _):
            total, k = carry
            total = total + jnp.einsum("bqd,bkd->bq", q, k)
            return (total, lax.ppermute(k, "sp", [(i, (i + 1) % 4) for i in range(4)])), None

        start = lax.pcast(jnp.zeros(q.shape[:2]), "sp", to="varying")
        return lax.scan(turn, (start, k), length=4)[0][0]

    return jax.shard_map(local, mesh=mesh, in_specs=P(None, "sp"), out_specs=P(None, "sp"))(q, k)
"""
EMBEDDING = """\
import jax
import jax.numpy as jnp

def f(table, ids, w):
    def loss(table, w):
        x = jnp.take(table, ids, axis=0)
        return jnp.mean((x @ w) ** 2)

    return jax.grad(loss, argnums=(0, 1))(table, w)
"""
EXPERTS = """\
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

def f(x, up, down):
    x = jax.lax.with_sharding_constraint(x, P("expert"))
    h = jax.nn.relu(jnp.einsum("etd,edf->etf", x, up))
    y = jnp.einsum("etf,efd->etd", h, down)
    return jax.lax.with_sharding_constraint(y, P(None, "expert"))
"""
PROGRAMS = {
    # name: source, mesh, inputs, and the FLOPs on a device by line.
    "a stage on each device": (
        PIPELINE, "stage=4, data=2", 'w: float32[4, 64, 64] P("stage")\nx: float32[4, 16, 64] P(None, "data")',
        {9: 7 * 2 * 8 * 64 * 64},
    ),
    "a row of the batch on each device": (
        ATTENTION, "data=8",
        "w/q: float32[64, 4, 16]\nw/k: float32[64, 4, 16]\nw/v: float32[64, 4, 16]\nw/o: float32[4, 16, 64]\n"
        'x: float32[8, 32, 64] P("data")',
        # The inputs need no gradient, so the projections have 2 products each instead of 3.
        {5: 6 * 2 * 32 * 64 * 64, 6: 3 * 2 * 4 * 32 * 32 * 16, 8: 3 * 2 * 4 * 32 * 32 * 16, 9: 3 * 2 * 32 * 64 * 64},
    ),
    "a column": (
        COLUMN, "data=4", 'w: float32[64, 64]\nv: float32[64, 1]\nx: float32[32, 64] P("data")',
        {5: 2 * 8 * 64 * 64, 6: 2 * 8 * 64},
    ),
    "a ring": (
        RING, "sp=4", 'q: float32[1, 64, 16] P(None, "sp")\nk: float32[1, 64, 16] P(None, "sp")', {},
    ),
    "an embedding": (
        EMBEDDING, "data=2, model=4",
        'table: float32[512, 64] P(None, "model")\nids: int32[16, 32] P("data")\nw: float32[64, 64] P("model")', {},
    ),
    "an expert on each device": (
        EXPERTS, "expert=4",
        'x: float32[4, 32, 64]\nup: float32[4, 64, 128] P("expert")\ndown: float32[4, 128, 64] P("expert")',
        {7: 2 * 32 * 64 * 128, 8: 2 * 32 * 64 * 128},
    ),
}  # fmt: skip


def share_with_lines(program: ExploredProgram) -> float:
    """The smaller one of the shares of FLOPs and of bytes that have a line."""
    work = [(each.line, each.flops or 0) for each in program.flops_by_line]
    sent = [(each.line, each.bytes * (each.executions or 1)) for each in program.collectives]
    return min(
        sum(size for line, size in sizes if line is not None) / (sum(size for _, size in sizes) or 1)
        for sizes in (work, sent)
        if any(size for _, size in sizes)
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_nearly_everything_has_a_line(judge, name):
    source, mesh, inputs, flops = PROGRAMS[name]
    [program] = explored(judge.inspect_function(read_function("f", mesh, inputs), source)).programs
    assert share_with_lines(program) > 0.99
    if flops:
        assert {each.line: each.flops for each in program.flops_by_line} == flops


def test_all_of_a_decoder_has_the_lines_of_its_products(judge):
    """One row of the batch on each device: attention's products lose their lines, half of them on each of two lines."""
    [decoder] = [each for each in all_examples() if each.slug == "decoder-1b"]
    [program] = explored(judge.inspect_function(decoder.function, decoder.source)).programs
    assert share_with_lines(program) == 1
    of_line = {
        number: each.flops
        for each in program.flops_by_line
        for number, line in enumerate(decoder.source.splitlines(), 1)
        if number == each.line and "bhqk" in line
    }
    products = 16 * 4 * 2 * 16 * 1024 * 1024 * 128
    # The second line also has the projection of the output.
    assert list(of_line.values()) == [products + 16 * 4 * 2 * 1024 * 2048 * 2048, products]
