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
    """Create the weights, and a cache filled up to `position`. This function is complete.

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
    """Decode one token of each sequence.

    Args:
      mesh: two axes, "data" and "model".
      state: what `init` or the previous step returned, placed as `SPECS` says.
      x: (B, D) float32, the new token of each sequence, split by sequences over "data".
    Returns:
      The new state, placed as the old one, and the result of the block, (B, D) float32, split like x.
    """
    # 1. Project x to q, k and v. 2. Write k and v into the cache at `position`.
    # 3. Attend to the positions up to `position`. 4. Project with wo.
    raise NotImplementedError
