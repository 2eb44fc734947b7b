"""The numbers of the lesson: an MLP, blocks with norms, and attention, compiled for 8 host devices."""

from collections.abc import Callable
from functools import cache

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jax.stages import Compiled

from grader.program.census import Census, take_census
from tests.lessons import attention
from tests.lessons.references import reference

_PROBLEM = "tp_column_row"
_MESH = Mesh(jax.devices(), ("x",))
# The sizes of the reference's first case.
_ROWS, _WIDTH, _HIDDEN = 96, 64, 512
# The sizes of the blocks with a norm, as in the lesson's program.
_BLOCKS, _BLOCK_HIDDEN, _POSITIONS = 4, 256, 1024
_ATTENDED = 1024


def _array(shape: tuple[int, ...], *spec: str | None) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(_MESH, P(*spec)))


def _census(compiled: Compiled) -> Census:
    return take_census(compiled.as_text(), _MESH.size)


def _sent(compiled: Compiled) -> int:
    return sum(each.ring_bytes * each.executions for each in _census(compiled).collectives)


@cache
def _mlp(rows: int, *, gradient: bool = False) -> Compiled:
    """Compile an MLP split by columns and then by rows, by jit; or the gradient of both matrices and the input."""

    def mlp(a, b, x):
        return jax.nn.relu(x @ a) @ b

    def loss(a, b, x):
        return jnp.mean(mlp(a, b, x) ** 2)

    step = jax.grad(loss, (0, 1, 2)) if gradient else mlp
    a, b = _array((_WIDTH, _HIDDEN), None, "x"), _array((_HIDDEN, _WIDTH), "x")
    return jax.jit(step).lower(a, b, _array((rows, _WIDTH))).compile()


def _blocks_by(*, split: bool) -> tuple[Callable[..., jax.Array], P]:
    """Return blocks of a norm and an MLP, with positions whole or split around the norm, and the positions' spec."""

    def norm(h):
        return h * lax.rsqrt(jnp.mean(h**2, -1, keepdims=True) + 1e-6)

    def blocks(ws, h):
        for a, b in zip(*ws, strict=True):
            x = lax.all_gather(norm(h), "x", tiled=True) if split else norm(h)
            term = jax.nn.relu(x @ a) @ b
            h = h + (lax.psum_scatter(term, "x", tiled=True) if split else lax.psum(term, "x"))
        return h

    spec, weights = P("x") if split else P(), (P(None, None, "x"), P(None, "x"))
    return jax.shard_map(blocks, mesh=_MESH, in_specs=(weights, spec), out_specs=spec), spec


@cache
def _blocks(*, split: bool, gradient: bool = False) -> Compiled:
    mapped, spec = _blocks_by(split=split)
    step = jax.grad(lambda ws, x: jnp.mean(mapped(ws, x) ** 2)) if gradient else mapped
    a = _array((_BLOCKS, _WIDTH, _BLOCK_HIDDEN), None, None, "x")
    b = _array((_BLOCKS, _BLOCK_HIDDEN, _WIDTH), None, "x")
    return jax.jit(step).lower((a, b), _array((_POSITIONS, _WIDTH), *spec)).compile()


def devices():
    """The devices of the mesh."""
    return _MESH.size, "devices"


def tensor_sent():
    """What one device sends around a ring in the reference of tp_column_row, on its first case."""
    return reference(_PROBLEM).reduce.sent, "bytes"


def tensor_gathered():
    """The all_gathers in the reference of tp_column_row."""
    return reference(_PROBLEM).gather.executions, "all_gathers"


def columns_gathered():
    """The bytes of the whole hidden layer, which is gathered if both matrices are split by columns."""

    def mlp(a, b, x):
        return jax.nn.relu(x @ a) @ b

    a, b = _array((_WIDTH, _HIDDEN), None, "x"), _array((_HIDDEN, _WIDTH), None, "x")
    compiled = jax.jit(mlp).lower(a, b, _array((_ROWS, _WIDTH))).compile()
    (found,) = _census(compiled).collectives
    assert (found.kind, found.shapes) == ("all-gather", ((_ROWS, _HIDDEN),))
    return found.ring_bytes * _MESH.size // (_MESH.size - 1), "bytes"


def result_bytes():
    """The bytes of the whole result, which the all_reduce sums."""
    return reference(_PROBLEM).reduce.bytes, "bytes"


def gradient_reduces():
    """The tensors that are all-reduced in the gradient of the same network and its input."""
    found = _census(_mlp(_ROWS, gradient=True)).collectives
    assert {each.kind for each in found} == {"all-reduce"}
    shapes = [shape for each in found for shape in each.shapes]
    assert set(shapes) == {(_ROWS, _WIDTH)}
    return len(shapes), "all_reduces"


def sent_for_more():
    """What one device sends in the forward pass of the same network, with twice the rows."""
    assert _sent(_mlp(_ROWS)) == tensor_sent()[0]
    return _sent(_mlp(2 * _ROWS)), "bytes"


def results_twice():
    """Twice the bytes of the whole result for twice the rows."""
    return 4 * result_bytes()[0], "bytes"


def blocks_sent():
    """What one device sends in the forward pass of four blocks, with positions whole or split around the norm.

    Both compute the same values.
    """
    one, two, three = jax.random.split(jax.random.key(0), 3)
    weights = (
        jax.random.normal(one, (_BLOCKS, _WIDTH, _BLOCK_HIDDEN)) / 8,
        jax.random.normal(two, (_BLOCKS, _BLOCK_HIDDEN, _WIDTH)) / 16,
    )
    x = jax.random.normal(three, (_POSITIONS, _WIDTH))
    whole, split = (jax.jit(_blocks_by(split=split)[0])(weights, x) for split in (False, True))
    assert jnp.allclose(whole, split, 1e-4, 1e-4)
    (sent,) = {_sent(_blocks(split=False)), _sent(_blocks(split=True))}
    return sent, "bytes"


def blocks():
    """The number of blocks."""
    return _BLOCKS, "blocks"


def temporaries_whole():
    """The temporary buffers in the gradient of the blocks with all positions around the norm."""
    return _blocks(split=False, gradient=True).memory_analysis().temp_size_in_bytes, "bytes"


def temporaries_split():
    """The temporary buffers of their gradient with positions split around the norm."""
    return _blocks(split=True, gradient=True).memory_analysis().temp_size_in_bytes, "bytes"


def positions():
    """The positions of the measured attention."""
    return _ATTENDED, "positions"


def heads():
    """The heads of the measured attention, of which there are as many as devices."""
    assert _MESH.size == attention.HEADS
    return attention.HEADS, "heads"


def gathered_sent():
    """What one device sends if keys and values are gathered."""
    return attention.cost(attention.gathered, _ATTENDED).sent, "bytes"


def gathered_temporaries():
    """The temporary buffers of one device if keys and values are gathered."""
    return attention.cost(attention.gathered, _ATTENDED).temporaries, "bytes"


def heads_sent():
    """What one device sends if positions are exchanged for heads and back."""
    return attention.cost(attention.by_heads, _ATTENDED).sent, "bytes"


def heads_exchanges():
    """The all_to_alls of the program that exchanges positions for heads and back."""
    return attention.cost(attention.by_heads, _ATTENDED).executions, "all_to_alls"


def heads_temporaries():
    """The temporary buffers of one device if positions are exchanged for heads and back."""
    return attention.cost(attention.by_heads, _ATTENDED).temporaries, "bytes"


def ring_sent():
    """What one device sends if keys and values go around a ring."""
    return attention.cost(attention.ring, _ATTENDED).sent, "bytes"


def ring_permutes():
    """How often the ring of 8 devices executes its collective_permute."""
    return attention.cost(attention.ring, _ATTENDED).executions, "collective_permutes"


def ring_temporaries():
    """The temporary buffers of one device in the ring."""
    return attention.cost(attention.ring, _ATTENDED).temporaries, "bytes"


def attention_flops():
    """The FLOPs of the products on one device, which are the same in all three programs."""
    kinds = attention.gathered, attention.by_heads, attention.ring
    (flops,) = {attention.cost(kind, _ATTENDED).flops for kind in kinds}
    return flops, "FLOPs"
