"""Sequences over "data" and heads over "model": only the output projection sums over devices."""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

# Sequences, positions in the cache, features, query heads, kv heads, numbers in a head.
B, T, D, H, K, E = 20, 52, 44, 24, 8, 16
HEADS = P(None, "model")
CACHE = P("data", "model")
SPECS = {
    "params": {"wq": HEADS, "wk": HEADS, "wv": HEADS, "wo": P("model")},
    "cache": {"keys": CACHE, "values": CACHE},
    "position": P(),
}


def init(mesh: Mesh, seed: int) -> State:
    """Create the weights, and a cache filled up to `position`.

    The positions from `position` on still have numbers of an earlier request, as a reused cache does.
    """
    keys = iter(jax.random.split(jax.random.key(seed), 6))

    def draw(*shape: int, summed: int = 1) -> jax.Array:
        return jax.random.normal(next(keys), shape) / math.sqrt(summed)

    heads = {"wq": draw(D, H, E, summed=D), "wk": draw(D, K, E, summed=D), "wv": draw(D, K, E, summed=D)}
    state = {
        "params": heads | {"wo": draw(H, E, D, summed=H * E)},
        "cache": {"keys": draw(B, K, T, E), "values": draw(B, K, T, E)},
        "position": jnp.asarray(2 + seed % 48, jnp.int32),
    }
    return jax.tree.map(lambda leaf, spec: jax.device_put(leaf, NamedSharding(mesh, spec)), state, SPECS)


def step(mesh: Mesh, state: State, x: jax.Array) -> tuple[State, jax.Array]:
    """Decode one token of each sequence. Return the new state and the result of the attention block."""
    params, cache, position = state["params"], state["cache"], state["position"]
    q, k, v = (jnp.einsum("bd,dhe->bhe", x, params[name]) for name in ("wq", "wk", "wv"))
    keys = jax.lax.dynamic_update_slice(cache["keys"], k[:, :, None], (0, 0, position, 0))
    values = jax.lax.dynamic_update_slice(cache["values"], v[:, :, None], (0, 0, position, 0))
    scores = jnp.einsum("bkge,bkte->bkgt", q.reshape(B, K, H // K, E), keys) / math.sqrt(E)
    scores = jnp.where(jnp.arange(T) <= position, scores, -jnp.inf)
    mixed = jnp.einsum("bkgt,bkte->bkge", jax.nn.softmax(scores), values).reshape(B, H, E)
    out = jnp.einsum("bhe,hed->bd", mixed, params["wo"])
    new = {"params": params, "cache": {"keys": keys, "values": values}, "position": position + 1}
    new = jax.tree.map(lambda leaf, spec: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec)), new, SPECS)
    return new, jax.lax.with_sharding_constraint(out, NamedSharding(mesh, P("data")))
