"""One psum of one number: the squares of all shards. Biases are whole on every device, so they are added after it."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

LEARNING_RATE, LIMIT = 0.5, 1.0
LAYER = {"kernel": P("fsdp"), "bias": P()}
SPECS = {"params": {"hidden": LAYER, "out": LAYER}}


def init(mesh: Mesh, seed: int) -> State:
    """Build the parameters: each device gets one shard of every kernel, and all of every bias."""
    rngs = nnx.Rngs(seed)
    layers = {"hidden": nnx.Linear(40, 128, rngs=rngs), "out": nnx.Linear(128, 24, rngs=rngs)}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    return jax.device_put({"params": params}, jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS))


def loss_fn(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean loss over the rows of all devices, from shards of the kernels and a device's own rows."""

    def dense(layer: Any, x: jax.Array) -> jax.Array:
        return x @ jax.lax.all_gather(layer["kernel"], "fsdp", axis=0, tiled=True) + layer["bias"]

    error = dense(params["out"], jnp.tanh(dense(params["hidden"], x))) - y
    return jax.lax.pmean(jnp.mean(error**2), "fsdp")


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one SGD step with clipped gradients. Return the new state and the loss before the update."""

    @jax.shard_map(mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        shards = sum(jnp.sum(layer["kernel"] ** 2) for layer in grads.values())
        biases = sum(jnp.sum(layer["bias"] ** 2) for layer in grads.values())
        norm = jnp.sqrt(jax.lax.psum(shards, "fsdp") + biases)
        factor = jnp.minimum(1.0, LIMIT / norm)
        params = jax.tree.map(lambda p, g: p - LEARNING_RATE * factor * g, state["params"], grads)
        return {"params": params}, loss

    return local_step(state, x, y)
