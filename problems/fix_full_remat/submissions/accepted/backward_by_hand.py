"""The backward pass by hand: a scan in reverse that differentiates one half at a time from its input."""

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
        varying = jax.tree.map(lambda p: jax.lax.pcast(p, "data", to="varying"), params)

        def forward(x: jax.Array, block: Any) -> tuple[jax.Array, Any]:
            middle = half(x, block["first"])
            return half(middle, block["second"]), (x, middle)

        def backward(bar: jax.Array, kept: Any) -> tuple[jax.Array, Any]:
            block, (x, middle) = kept
            bar, second = jax.vjp(half, middle, block["second"])[1](bar)
            bar, first = jax.vjp(half, x, block["first"])[1](bar)
            return bar, {"first": first, "second": second}

        out, inputs = jax.lax.scan(forward, x, varying)
        count = y.size * jax.lax.axis_size("data")
        _, grads = jax.lax.scan(backward, 2 * (out - y) / count, (varying, inputs), reverse=True)
        loss = jax.lax.pmean(jnp.mean((out - y) ** 2), "data")
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.lax.psum(grads, "data")), loss

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
