from functools import partial
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
    """Return the initial parameters in their own shapes. This function is finished."""
    keys = jax.random.split(jax.random.key(seed), len(SHAPES))
    return {name: 0.5 * jax.random.normal(key, shape) for key, (name, shape) in zip(keys, SHAPES.items(), strict=True)}


def mean_loss(params: Arrays, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error over these rows, from parameters in their own shapes. This function is finished."""
    h = jnp.mean(params["embed"][x], axis=1)
    h = jnp.tanh(h @ params["kernel1"] + params["bias1"])
    return jnp.mean((h @ params["kernel2"] + params["bias2"] - y) ** 2)


def pad(leaf: jax.Array) -> jax.Array:
    """Return the leaf as a vector, with zeros at its end up to a multiple of 8: (13, 7) becomes (96,)."""
    # To do: `leaf.ravel()` and `jnp.pad`.
    raise NotImplementedError


def cut(vector: jax.Array, name: str) -> jax.Array:
    """Undo `pad`: return the leaf in its own shape, `SHAPES[name]`, without the padding."""
    # To do.
    raise NotImplementedError


def init(mesh: Mesh, seed: int) -> State:
    """Pad each parameter and split it over the devices. This function is finished."""
    params = {name: pad(leaf) for name, leaf in draw(seed).items()}
    return jax.device_put({"params": params}, NamedSharding(mesh, P("fsdp")))


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one step of SGD with centred gradients.

    Args:
      mesh: one axis, "fsdp", of 8 or 4 devices.
      state: what `init` or the previous step returned.
      x: (B, 8) int32, the tokens of each row, with rows split over "fsdp".
      y: (B, 7) float32, split in the same way.
    Returns:
      The new state, padded and placed as the old one, and the loss before the update.
    """

    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=(P("fsdp"), P()))
    def local_step(shards: Arrays, x: jax.Array, y: jax.Array) -> tuple[Arrays, jax.Array]:
        # shards["kernel2"] has 96 / 8 = 12 elements on 8 devices, and 24 on 4. x and y are this device's rows.
        # To do: return the new shards, and `jax.lax.pmean(loss, "fsdp")`.
        raise NotImplementedError

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
