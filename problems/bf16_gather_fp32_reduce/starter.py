from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}


def init(mesh: Mesh, seed: int) -> State:
    """Build the parameters and a momentum of zeros, and split each leaf along dimension 0. Complete."""
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    state = {"params": params, "momentum": jax.tree.map(jnp.zeros_like, params)}
    return jax.device_put(state, NamedSharding(mesh, P("fsdp")))


def mean_loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error over these rows, computed in float32 from whole weights of any dtype. Complete."""
    for name in LAYERS:
        layer = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), params[name])
        x = x @ layer["kernel"] + layer["bias"]
        x = x if name == "dense3" else nnx.relu(x)
    return jnp.mean((x - y) ** 2)


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one step of SGD with momentum. Weights travel in bfloat16, gradients in float32.

    Args:
      mesh: one axis, "fsdp", of 8 or 4 devices.
      state: what `init` or the previous step returned.
      x: (B, 40) float32, rows split over "fsdp".
      y: (B, 24) float32, split in the same way.
    Returns:
      The new state, placed as the old one, and the loss before the update.
    """

    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=(P("fsdp"), P()))
    def local_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
        # This is FSDP, but every collective carries float32. Which dtype does the derivative of a gather have?
        def loss_of_shards(shards: Any) -> jax.Array:
            whole = jax.tree.map(lambda p: jax.lax.all_gather(p, "fsdp", tiled=True), shards)
            return mean_loss(whole, x, y)

        loss, grads = jax.value_and_grad(loss_of_shards)(state["params"])
        grads = jax.tree.map(lambda g: g / jax.lax.axis_size("fsdp"), grads)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["momentum"], grads)
        params = jax.tree.map(lambda p, m: p - 0.5 * m, state["params"], momentum)
        return {"params": params, "momentum": momentum}, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
