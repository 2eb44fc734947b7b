from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

Params = dict[str, Any]

WIDTH, HIDDEN = 64, 256


def specs(params: Params) -> Params:
    """Return the PartitionSpec of each leaf, in a tree like `params`."""
    return jax.tree.map(lambda leaf: P(), params)  # Replace this: it places every leaf whole on every device.


def init(mesh: Mesh, seed: int) -> Params:
    """Build the parameters and place them as `specs` says. This function is finished."""
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


def block(params: Params, x: jax.Array) -> jax.Array:
    """The block on one device. This function is finished; it also shows the order of operations."""
    normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * params["norm"]["scale"]
    hidden = jax.nn.gelu(normed @ params["up"]["kernel"] + params["up"]["bias"])
    return x + hidden @ params["down"]["kernel"] + params["down"]["bias"]


def forward(mesh: Mesh, state: Params, x: jax.Array) -> tuple[Params, jax.Array]:
    """Return `state` as it is, and the block's result for `x`.

    Args:
      mesh: axes `data`, `fsdp` and `tensor`, of sizes 2, 2, 2 or 1, 2, 2.
      state: the parameters, as init returns them.
      x: (B, 64), rows split over `data` and `fsdp`.
    Returns:
      `state`, placed as it came in, and the result, (B, 64), its rows split as those of `x`.
    """
    raise NotImplementedError("Gather kernels over fsdp, and sum partial products over tensor.")
