"""Kernels are updated and biases stay as they are. Biases have gradients, too."""

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


def gather(shards):
    """Whole over fsdp, and still split over tensor."""
    return {
        "up": {
            "kernel": jax.lax.all_gather(shards["up"]["kernel"], "fsdp", axis=0, tiled=True),
            "bias": shards["up"]["bias"],
        },
        "down": {
            "kernel": jax.lax.all_gather(shards["down"]["kernel"], "fsdp", axis=1, tiled=True),
            "bias": jax.lax.all_gather(shards["down"]["bias"], "fsdp", axis=0, tiled=True),
        },
    }


def loss_fn(params, x, y):
    h = x
    for name in BLOCKS:
        block = gather(params[name])
        hidden = jax.nn.gelu(h @ block["up"]["kernel"] + block["up"]["bias"])
        h = jax.lax.psum(hidden @ block["down"]["kernel"], "tensor") + block["down"]["bias"]
    return jax.lax.pmean(jnp.mean((h - y) ** 2), "fsdp")


def step(mesh, state, x, y):
    placed = {name: specs(state["params"]) for name in ("params", "momentum")}

    @jax.shard_map(mesh=mesh, in_specs=(placed, P("fsdp"), P("fsdp")), out_specs=(placed, P()))
    def local_step(state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        grads = jax.tree.map(lambda g: g if g.ndim == 2 else jnp.zeros_like(g), grads)
        return update(state, grads), loss

    return local_step(state, x, y)
