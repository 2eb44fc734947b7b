"""The whole stack is computed again, and all of its activations are kept during the backward pass. One possible cause: the checkpoint is around the scan, so the second run of the scan keeps everything."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

BLOCKS, WIDTH, HIDDEN = 8, 20, 96
SPECS = {half: {"up": P(None, None, "tensor"), "down": P(None, "tensor")} for half in ("first", "second")}


def init(mesh: Mesh, seed: int) -> State:
    """Draw the kernels of all blocks, and split them by hidden units."""
    keys = iter(jax.random.split(jax.random.key(seed), 4))
    up, down = (BLOCKS, WIDTH, HIDDEN), (BLOCKS, HIDDEN, WIDTH)
    params = {
        half: {
            "up": jax.random.normal(next(keys), up) / WIDTH**0.5,
            "down": 0.3 * jax.random.normal(next(keys), down) / HIDDEN**0.5,
        }
        for half in SPECS
    }
    places = jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS)
    return {"params": jax.device_put(params, places)}


def half(x: jax.Array, kernels: Any) -> jax.Array:
    """Apply one half of a block: a norm, a pair of split kernels and a sum over tensor."""
    normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
    hidden = jax.nn.gelu(normed @ kernels["up"])
    return x + jax.lax.psum(hidden @ kernels["down"], "tensor")


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one SGD step on the mean squared error of a stack of blocks."""

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P("data"), P("data")), out_specs=(SPECS, P()))
    def local_step(params: Any, x: jax.Array, y: jax.Array) -> tuple[Any, jax.Array]:
        def apply(x: jax.Array, block: Any) -> tuple[jax.Array, None]:
            return half(half(x, block["first"]), block["second"]), None

        @jax.checkpoint
        def loss_fn(params: Any) -> jax.Array:
            out, _ = jax.lax.scan(apply, x, params)
            return jax.lax.pmean(jnp.mean((out - y) ** 2), "data")

        loss, grads = jax.value_and_grad(loss_fn)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
