"""Rows are split over both axes and kernels are gathered over both: that is FSDP on all devices, which moves whole kernels and uses tensor for storage only."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE, MOMENTUM = 0.1, 0.9
BLOCKS = {"block1": (24, 96, 72), "block2": (72, 168, 120)}


def specs(params):
    block = {
        "up": {"kernel": P("fsdp", "tensor"), "bias": P("tensor")},
        "down": {"kernel": P("tensor", "fsdp"), "bias": P("fsdp")},
    }
    return {name: block for name in params}


def build(seed):
    rng = np.random.default_rng(seed)

    def layer(inputs, outputs):
        kernel = rng.standard_normal((inputs, outputs), np.float32) / np.float32(inputs**0.5)
        return {"kernel": kernel, "bias": np.float32(0.1) * rng.standard_normal(outputs, np.float32)}

    return {name: {"up": layer(d, h), "down": layer(h, out)} for name, (d, h, out) in BLOCKS.items()}


def init(mesh, seed):
    params = build(seed)
    state = {"params": params, "momentum": jax.tree.map(np.zeros_like, params)}
    return jax.tree.map(
        lambda leaf, spec: jax.device_put(leaf, NamedSharding(mesh, spec)), state, {name: specs(params) for name in state}
    )


def update(state, grads):
    momentum = jax.tree.map(lambda m, g: MOMENTUM * m + g, state["momentum"], grads)
    params = jax.tree.map(lambda p, m: p - LEARNING_RATE * m, state["params"], momentum)
    return {"params": params, "momentum": momentum}


def pinned(mesh, tree, places):
    return jax.tree.map(lambda leaf, spec: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec)), tree, places)


def step(mesh, state, x, y):
    def loss_fn(params):
        h, target = jax.lax.with_sharding_constraint((x, y), NamedSharding(mesh, P(("fsdp", "tensor"))))
        for name in BLOCKS:
            up, down = jax.lax.with_sharding_constraint((params[name]["up"], params[name]["down"]), NamedSharding(mesh, P()))
            h = jax.nn.gelu(h @ up["kernel"] + up["bias"]) @ down["kernel"] + down["bias"]
        return jnp.mean((h - target) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    new = update(state, grads)
    return pinned(mesh, new, {name: specs(state["params"]) for name in new}), loss
