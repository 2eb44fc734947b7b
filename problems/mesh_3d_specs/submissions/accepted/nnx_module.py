"""An nnx module around the parameters; its kernels are pinned for compute when it is called."""

import jax
import jax.numpy as jnp
from flax import nnx
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


class Block(nnx.Module):
    def __init__(self, params):
        self.scale = nnx.Param(params["norm"]["scale"])
        self.up, self.up_bias = nnx.Param(params["up"]["kernel"]), nnx.Param(params["up"]["bias"])
        self.down, self.down_bias = nnx.Param(params["down"]["kernel"]), nnx.Param(params["down"]["bias"])

    def __call__(self, x, pin):
        rows = ("data", "fsdp")
        normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * self.scale[...]
        hidden = nnx.gelu(normed @ pin(self.up[...], None, "tensor") + self.up_bias[...])
        product = pin(hidden, rows, "tensor") @ pin(self.down[...], "tensor", None)
        return x + pin(product, rows, None) + self.down_bias[...]


def forward(mesh, state, x):
    def pin(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    return state, Block(state)(x, pin)
