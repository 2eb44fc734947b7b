"""Attention is written for one kv head of one sequence, and mapped over both."""

import math

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

B, T, D, H, K, E = 20, 52, 44, 24, 8, 16
HEADS = P(None, "model")
CACHE = P("data", "model")
SPECS = {
    "params": {"wq": HEADS, "wk": HEADS, "wv": HEADS, "wo": P("model")},
    "cache": {"keys": CACHE, "values": CACHE},
    "position": P(),
}


def init(mesh, seed):
    keys = iter(jax.random.split(jax.random.key(seed), 6))

    def draw(*shape, summed=1):
        return jax.random.normal(next(keys), shape) / math.sqrt(summed)

    heads = {"wq": draw(D, H, E, summed=D), "wk": draw(D, K, E, summed=D), "wv": draw(D, K, E, summed=D)}
    state = {
        "params": heads | {"wo": draw(H, E, D, summed=H * E)},
        "cache": {"keys": draw(B, K, T, E), "values": draw(B, K, T, E)},
        "position": jnp.asarray(2 + seed % 48, jnp.int32),
    }
    return jax.tree.map(lambda leaf, spec: jax.device_put(leaf, NamedSharding(mesh, spec)), state, SPECS)


def step(mesh, state, x):
    params, position = state["params"], state["position"]

    def attend(q, k, v, keys, values):
        keys, values = (
            jax.lax.dynamic_update_index_in_dim(old, new, position, 0) for old, new in ((keys, k), (values, v))
        )
        scores = jnp.where(jnp.arange(T) <= position, q @ keys.T / math.sqrt(E), -jnp.inf)
        return jax.nn.softmax(scores) @ values, keys, values

    q, k, v = (jnp.tensordot(x, params[name], 1) for name in ("wq", "wk", "wv"))
    cache = state["cache"]
    mixed, keys, values = jax.vmap(jax.vmap(attend))(q.reshape(B, K, -1, E), k, v, cache["keys"], cache["values"])
    out = jnp.tensordot(mixed.reshape(B, H, E), params["wo"], 2)
    new = {"params": params, "cache": {"keys": keys, "values": values}, "position": position + 1}
    new = jax.tree.map(lambda leaf, spec: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec)), new, SPECS)
    return new, jax.lax.with_sharding_constraint(out, NamedSharding(mesh, P("data")))
