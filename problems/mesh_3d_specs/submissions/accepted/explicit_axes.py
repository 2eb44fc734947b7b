"""Explicit axes: reshard gathers over fsdp, and the second product names where its sum lives."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

WIDTH, HIDDEN = 64, 256


def specs(params):
    return {
        "norm": {"scale": P()},
        "up": {"kernel": P("fsdp", "tensor"), "bias": P("tensor")},
        "down": {"kernel": P("tensor", "fsdp"), "bias": P()},
    }


def init(mesh, seed):
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


def forward(mesh, state, x):
    def block(params, x):
        up = jax.sharding.reshard(params["up"]["kernel"], P(None, "tensor"))
        down = jax.sharding.reshard(params["down"]["kernel"], P("tensor", None))
        normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * params["norm"]["scale"]
        hidden = jax.nn.gelu(normed @ up + params["up"]["bias"])
        return x + jnp.dot(hidden, down, out_sharding=P(("data", "fsdp"), None)) + params["down"]["bias"]

    in_sharding = (specs(state), P(("data", "fsdp"), None))
    return state, jax.sharding.explicit_axes(block, axes=mesh.axis_names, in_sharding=in_sharding)(state, x)
