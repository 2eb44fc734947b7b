"""The numbers of the lesson: a layer with and without its cache, and what a decoding step sends."""

from functools import cache

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jax.stages import Compiled

from grader.program.census import take_census

_MESH = Mesh(jax.devices(), ("x",))
_TOKENS, _WIDTH = 128, 64
_SEQUENCES, _POSITIONS, _HEADS, _FEATURES = 16, 1024, 8, 32


def _flops(function, *shapes: tuple[int, ...]) -> int:
    arrays = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    return take_census(jax.jit(function).lower(*arrays).compile().as_text(), 1).dot_flops or 0


def _sent(compiled: Compiled) -> int:
    found = take_census(compiled.as_text(), _MESH.size).collectives
    assert {each.kind for each in found} == {"all-reduce"}
    return sum(each.ring_bytes * each.executions for each in found)


@cache
def _decoding(spec: P, token: P, positions: int = _POSITIONS) -> Compiled:
    """Compile one decoding step whose cache and token are split in this way."""

    def decode(kept, q, k, v, t):
        kept = [
            jax.lax.dynamic_update_slice_in_dim(old, new[:, None], t, 1) for old, new in zip(kept, (k, v), strict=True)
        ]
        scores = jnp.einsum("bhd,bthd->bht", q, kept[0])
        weights = jax.nn.softmax(jnp.where(jnp.arange(positions) <= t, scores, -jnp.inf))
        return kept, jnp.einsum("bht,bthd->bhd", weights, kept[1])

    def array(shape, spec):
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(_MESH, spec))

    kept = [array((_SEQUENCES, positions, _HEADS, _FEATURES), spec)] * 2
    one = array((_SEQUENCES, _HEADS, _FEATURES), token)
    places = jax.tree.map(lambda each: each.sharding, (kept, one))
    return jax.jit(decode, donate_argnums=0, out_shardings=places).lower(kept, one, one, one, 0).compile()


def _layer(x, wq, wk, wv):
    """Compute the keys and values of all tokens, and attention for the last."""
    k, v = x @ wk, x @ wv
    return jax.nn.softmax((x[-1:] @ wq) @ k.T) @ v


def _cached(token, k, v, wq, wk, wv):
    """What `_layer` returns, computed with stored keys and values of the earlier tokens."""
    k, v = k.at[-1].set((token @ wk)[0]), v.at[-1].set((token @ wv)[0])
    return jax.nn.softmax((token @ wq) @ k.T) @ v


def devices():
    """The devices of the mesh."""
    return _MESH.size, "devices"


def again_flops():
    """The FLOPs of matrix products for the last token, if the keys and values of all tokens are computed again."""
    square = (_WIDTH, _WIDTH)
    return _flops(_layer, (_TOKENS, _WIDTH), square, square, square), "FLOPs"


def cached_flops():
    """The FLOPs of matrix products for the last token with a cache."""
    kept, square = (_TOKENS, _WIDTH), (_WIDTH, _WIDTH)
    return _flops(_cached, (1, _WIDTH), kept, kept, square, square, square), "FLOPs"


def positions_sent():
    """What a device sends in a decoding step whose cache is split by positions."""
    return _sent(_decoding(P(None, "x"), P())), "bytes"


def positions_sent_twice():
    """What a device sends in that decoding step with twice the positions."""
    return _sent(_decoding(P(None, "x"), P(), 2 * _POSITIONS)), "bytes"


def positions_doubled():
    """Twice what a device sends before the positions are doubled."""
    return 2 * positions_sent()[0], "bytes"


def features_sent():
    """What a device sends in a decoding step whose cache is split by features."""
    return _sent(_decoding(P(None, None, None, "x"), P(None, None, "x"))), "bytes"
