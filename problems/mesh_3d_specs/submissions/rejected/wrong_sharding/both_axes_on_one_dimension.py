"""One dimension of each kernel is split over `fsdp` and `tensor` together. A device then holds as many bytes, but of
the wrong rows or columns: give each axis its own dimension."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

WIDTH, HIDDEN = 64, 256


def specs(params):
    return {
        "norm": {"scale": P()},
        "up": {"kernel": P(("fsdp", "tensor"), None), "bias": P("tensor")},
        "down": {"kernel": P(("fsdp", "tensor"), None), "bias": P()},
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
    def pin(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    rows = ("data", "fsdp")
    normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * state["norm"]["scale"]
    up = pin(state["up"]["kernel"], None, "tensor")
    down = pin(state["down"]["kernel"], "tensor", None)
    hidden = pin(jax.nn.gelu(normed @ up + state["up"]["bias"]), rows, "tensor")
    return state, pin(x + pin(hidden @ down, rows, None) + state["down"]["bias"], rows, None)
