"""Weights are gathered over fsdp where they are used; partial sums are added up over tensor."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

Params = dict[str, Any]

WIDTH, HIDDEN = 64, 256
ROWS = P(("data", "fsdp"), None)


def specs(params: Params) -> Params:
    """The PartitionSpec of each leaf, by its kind."""
    return {
        "norm": {"scale": P()},
        "up": {"kernel": P("fsdp", "tensor"), "bias": P("tensor")},
        "down": {"kernel": P("tensor", "fsdp"), "bias": P()},
    }


def init(mesh: Mesh, seed: int) -> Params:
    """Build the parameters and place them as `specs` says."""
    keys = jax.random.split(jax.random.key(seed), 5)
    params = {
        "norm": {"scale": 1 + 0.1 * jax.random.normal(keys[0], (WIDTH,))},
        "up": {
            "kernel": jax.random.normal(keys[1], (WIDTH, HIDDEN)) / WIDTH**0.5,
            "bias": 0.1 * jax.random.normal(keys[2], (HIDDEN,)),
        },
        "down": {
            "kernel": jax.random.normal(keys[3], (HIDDEN, WIDTH)) / HIDDEN**0.5,
            "bias": 0.1 * jax.random.normal(keys[4], (WIDTH,)),
        },
    }
    return jax.tree.map(lambda leaf, spec: jax.device_put(leaf, NamedSharding(mesh, spec)), params, specs(params))


def forward(mesh: Mesh, state: Params, x: jax.Array) -> tuple[Params, jax.Array]:
    """Return `state` as it is, and the block's result for `x`."""

    def local(params: Params, x: jax.Array) -> jax.Array:
        up = jax.lax.all_gather(params["up"]["kernel"], "fsdp", axis=0, tiled=True)
        down = jax.lax.all_gather(params["down"]["kernel"], "fsdp", axis=1, tiled=True)
        normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * params["norm"]["scale"]
        hidden = jax.nn.gelu(normed @ up + params["up"]["bias"])
        return x + jax.lax.psum(hidden @ down, "tensor") + params["down"]["bias"]

    block = jax.shard_map(local, mesh=mesh, in_specs=(specs(state), ROWS), out_specs=ROWS)
    return state, block(state, x)
