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
    """Build the parameters: a shard of every kernel on each device, and whole biases. This function is complete."""
    rngs = nnx.Rngs(seed)
    layers = {"hidden": nnx.Linear(40, 128, rngs=rngs), "out": nnx.Linear(128, 24, rngs=rngs)}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    return jax.device_put({"params": params}, jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS))


def loss_fn(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean loss over the rows of all devices, from shards of the kernels and a device's own rows.

    Its gradients are those of this mean: shards for kernels, whole and the same on every device for biases.
    This function is complete.
    """

    def dense(layer: Any, x: jax.Array) -> jax.Array:
        return x @ jax.lax.all_gather(layer["kernel"], "fsdp", axis=0, tiled=True) + layer["bias"]

    error = dense(params["out"], jnp.tanh(dense(params["hidden"], x))) - y
    return jax.lax.pmean(jnp.mean(error**2), "fsdp")


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one SGD step with gradients whose global norm is clipped to LIMIT.

    Args:
      mesh: one axis, "fsdp", of 8 or 4 devices.
      state: what `init` or the previous step returned.
      x, y: (B, 40) and (B, 24), the batch and its targets, with rows split over "fsdp".
    Returns:
      The new state and the loss before the update.
    """

    @jax.shard_map(mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        # grads["hidden"]["kernel"] has the shape (40 / devices, 128), grads["hidden"]["bias"] the shape (128,).
        factor = 1.0  # By what must these gradients be multiplied?
        params = jax.tree.map(lambda p, g: p - LEARNING_RATE * factor * g, state["params"], grads)
        return {"params": params}, loss

    return local_step(state, x, y)
