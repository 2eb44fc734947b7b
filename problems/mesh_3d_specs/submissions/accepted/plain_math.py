"""Nothing about devices beside the specs: the partitioner gathers over fsdp and sums over tensor."""

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


def block(params, x):
    normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * params["norm"]["scale"]
    hidden = jax.nn.gelu(normed @ params["up"]["kernel"] + params["up"]["bias"])
    return x + hidden @ params["down"]["kernel"] + params["down"]["bias"]


def forward(mesh, state, x):
    return state, block(state, x)
