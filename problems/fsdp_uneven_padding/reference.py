"""Whole arrays exist between the gather and the reduction only: cut after the one, pad before the other."""

from functools import partial
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

Arrays = dict[str, jax.Array]
State = dict[str, Any]

SHAPES = {"embed": (321, 10), "kernel1": (10, 13), "bias1": (13,), "kernel2": (13, 7), "bias2": (7,)}
LEARNING_RATE = 0.5


def draw(seed: int) -> Arrays:
    """Return the initial parameters in their own shapes."""
    keys = jax.random.split(jax.random.key(seed), len(SHAPES))
    return {name: 0.5 * jax.random.normal(key, shape) for key, (name, shape) in zip(keys, SHAPES.items(), strict=True)}


def mean_loss(params: Arrays, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error over these rows, from parameters in their own shapes."""
    h = jnp.mean(params["embed"][x], axis=1)
    h = jnp.tanh(h @ params["kernel1"] + params["bias1"])
    return jnp.mean((h @ params["kernel2"] + params["bias2"] - y) ** 2)


def pad(leaf: jax.Array) -> jax.Array:
    """Return the leaf as a vector, with zeros at its end up to a multiple of 8."""
    return jnp.pad(leaf.ravel(), (0, -leaf.size % 8))


def cut(vector: jax.Array, name: str) -> jax.Array:
    """Return a leaf in its own shape, without the padding."""
    return vector[: prod(SHAPES[name])].reshape(SHAPES[name])


def init(mesh: Mesh, seed: int) -> State:
    """Pad each parameter and split it over the devices."""
    params = {name: pad(leaf) for name, leaf in draw(seed).items()}
    return jax.device_put({"params": params}, NamedSharding(mesh, P("fsdp")))


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one step of SGD with centred gradients. Return the new state and the loss before it."""

    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=(P("fsdp"), P()))
    def local_step(shards: Arrays, x: jax.Array, y: jax.Array) -> tuple[Arrays, jax.Array]:
        whole = {name: cut(jax.lax.all_gather(shard, "fsdp", tiled=True), name) for name, shard in shards.items()}
        loss, grads = jax.value_and_grad(mean_loss)(whole, x, y)

        new = {}
        for name, grad in grads.items():
            # Centred before it is padded: the padding is in no mean, and its update is 0.
            centred = pad(grad - jnp.mean(grad))
            mean = jax.lax.psum_scatter(centred, "fsdp", tiled=True) / jax.lax.axis_size("fsdp")
            new[name] = shards[name] - LEARNING_RATE * mean
        return new, jax.lax.pmean(loss, "fsdp")

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
