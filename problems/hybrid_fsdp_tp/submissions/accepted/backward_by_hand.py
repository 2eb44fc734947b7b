"""The derivatives are written out: each sum over tensor and over fsdp stands where it happens."""

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


def reduce(grads):
    """The mean over fsdp, of which a device keeps what it stores."""
    up, down, number = grads["up"], grads["down"], jax.lax.axis_size("fsdp")
    return {
        "up": {
            "kernel": jax.lax.psum_scatter(up["kernel"], "fsdp", scatter_dimension=0, tiled=True) / number,
            "bias": jax.lax.psum(up["bias"], "fsdp") / number,
        },
        "down": {
            "kernel": jax.lax.psum_scatter(down["kernel"], "fsdp", scatter_dimension=1, tiled=True) / number,
            "bias": jax.lax.psum_scatter(down["bias"], "fsdp", scatter_dimension=0, tiled=True) / number,
        },
    }


def step(mesh, state, x, y):
    placed = {name: specs(state["params"]) for name in ("params", "momentum")}

    @jax.shard_map(mesh=mesh, in_specs=(placed, P("fsdp"), P("fsdp")), out_specs=(placed, P()), check_vma=False)
    def local_step(state, x, y):
        blocks = [gather(state["params"][name]) for name in BLOCKS]
        inputs, hidden, slopes = [x], [], []
        for block in blocks:
            before = inputs[-1] @ block["up"]["kernel"] + block["up"]["bias"]
            after, slope = jax.vjp(jax.nn.gelu, before)
            hidden.append(after)
            slopes.append(slope)
            inputs.append(jax.lax.psum(after @ block["down"]["kernel"], "tensor") + block["down"]["bias"])
        error = inputs.pop() - y
        grad, grads = 2 * error / error.size, {}
        for number, name in reversed(list(enumerate(BLOCKS))):
            block = blocks[number]
            (before,) = slopes[number](grad @ block["down"]["kernel"].T)
            grads[name] = {
                "up": {"kernel": inputs[number].T @ before, "bias": before.sum(axis=0)},
                "down": {"kernel": hidden[number].T @ grad, "bias": grad.sum(axis=0)},
            }
            if number:
                grad = jax.lax.psum(before @ block["up"]["kernel"].T, "tensor")
        grads = {name: reduce(grads[name]) for name in BLOCKS}
        return update(state, grads), jax.lax.pmean(jnp.mean(error**2), "fsdp")

    return local_step(state, x, y)
