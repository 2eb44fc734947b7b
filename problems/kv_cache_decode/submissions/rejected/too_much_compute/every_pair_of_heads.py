"""Devices compute products that no result needs. One possible cause: each query head is multiplied with every kv
head, and one of them is selected."""

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
    def local(state, x):
        params, cache, position = state["params"], state["cache"], state["position"]
        q, k, v = (jnp.einsum("bd,dhe->bhe", x, params[name]) for name in ("wq", "wk", "wv"))
        keys = jax.lax.dynamic_update_slice(cache["keys"], k[:, :, None], (0, 0, position, 0))
        values = jax.lax.dynamic_update_slice(cache["values"], v[:, :, None], (0, 0, position, 0))
        grouped = q.reshape(*k.shape[:2], H // K, E)
        pairs = jnp.einsum("bhe,bkte->bhkt", q, keys) / math.sqrt(E)
        own = (jnp.arange(q.shape[1]) // (H // K))[:, None] == jnp.arange(k.shape[1])
        scores = jnp.where(own[:, :, None], pairs, 0.0).sum(axis=2).reshape(*grouped.shape[:3], T)
        scores = jnp.where(jnp.arange(T) <= position, scores, -jnp.inf)
        mixed = jnp.einsum("bkgt,bkte->bkge", jax.nn.softmax(scores), values).reshape(q.shape)
        out = jax.lax.psum(jnp.einsum("bhe,hed->bd", mixed, params["wo"]), "model")
        return {"params": params, "cache": {"keys": keys, "values": values}, "position": position + 1}, out

    return jax.shard_map(local, mesh=mesh, in_specs=(SPECS, P("data")), out_specs=(SPECS, P("data")))(state, x)
