"""shard_map over tensor only; the partitioner gathers and reduces over fsdp."""

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


def step(mesh, state, x, y):
    def pin(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    over_tensor = {"up": {"kernel": P(None, "tensor"), "bias": P("tensor")}, "down": {"kernel": P("tensor"), "bias": P()}}
    names = {name: over_tensor for name in BLOCKS}

    @jax.shard_map(mesh=mesh, in_specs=(names, P(), P()), out_specs=P(), axis_names={"tensor"})
    def loss_fn(params, x, y):
        h = x
        for name in BLOCKS:
            up, down = params[name]["up"], params[name]["down"]
            hidden = jax.nn.gelu(jax.lax.with_sharding_constraint(h @ up["kernel"] + up["bias"], P("fsdp", None)))
            product = jax.lax.with_sharding_constraint(hidden @ down["kernel"], P("fsdp", None))
            h = jax.lax.psum(product, "tensor") + down["bias"]
        return jnp.mean((h - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
    new = update(state, grads)
    places = {name: specs(state["params"]) for name in new}
    return jax.tree.map(lambda leaf, spec: pin(leaf, *spec), new, places), loss
