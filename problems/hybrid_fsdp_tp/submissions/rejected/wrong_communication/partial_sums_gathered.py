"""The products of all devices' hidden units are gathered over tensor and added up on every device. A psum moves less: an all_gather moves as many products as tensor has devices."""

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


@jax.custom_vjp
def enter(h):
    """Where the hidden units split over tensor: nothing forward, a sum over tensor backward. Megatron-LM calls it f."""
    return h


enter.defvjp(lambda h: (h, None), lambda _, grad: (jax.lax.psum(grad, "tensor"),))


@jax.custom_vjp
def leave(h):
    """Where the products of all hidden units come together: a sum forward, nothing backward. Megatron-LM calls it g."""
    return jax.lax.all_gather(h, "tensor").sum(axis=0)


leave.defvjp(lambda h: (leave(h), None), lambda _, grad: (grad,))


def loss_fn(params, x, y):
    h = x
    for name in BLOCKS:
        up, down = params[name]["up"], params[name]["down"]
        hidden = jax.nn.gelu(enter(h) @ up["kernel"] + up["bias"])
        h = leave(hidden @ down["kernel"]) + down["bias"]
    return jnp.mean((h - y) ** 2)


def step(mesh, state, x, y):
    placed = {name: specs(state["params"]) for name in ("params", "momentum")}

    @jax.shard_map(mesh=mesh, in_specs=(placed, P("fsdp"), P("fsdp")), out_specs=(placed, P()), check_vma=False)
    def local_step(state, x, y):
        whole = {name: gather(shards) for name, shards in state["params"].items()}
        loss, grads = jax.value_and_grad(loss_fn)(whole, x, y)
        grads = {name: reduce(block) for name, block in grads.items()}
        return update(state, grads), jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
