from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

SIZES = {"up": (40, 192), "down": (192, 24)}
SPECS = {
    "up": {"kernel": P(None, "fsdp"), "bias": P("fsdp")},
    "down": {"kernel": P("fsdp", None), "bias": P("fsdp")},
}


def init(mesh: Mesh, seed: int) -> State:
    """Put every leaf on a mesh of the same devices whose axis is Explicit. This function is complete."""
    mesh = Mesh(mesh.devices, mesh.axis_names, axis_types=(AxisType.Explicit,))
    params = {}
    for (name, (rows, columns)), key in zip(SIZES.items(), jax.random.split(jax.random.key(seed)), strict=True):
        kernel = jax.random.normal(key, (rows, columns)) / jnp.sqrt(rows)
        params[name] = {"kernel": kernel, "bias": jnp.zeros(columns)}
    params = jax.tree.map(lambda leaf, spec: jax.device_put(leaf, NamedSharding(mesh, spec)), params, SPECS)
    return {"params": params, "velocity": jax.tree.map(jnp.zeros_like, params)}


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one step of SGD with momentum on Explicit axes.

    Args:
      mesh: one axis, "fsdp", of 8 or 4 devices.
      state: what `init` or the previous step returned.
      x: (B, 40), float32[B@fsdp,40] as a type.
      y: (B, 24), float32[B@fsdp,24] as a type.
    Returns:
      The new state, every leaf with the type that it came with, and the loss before the update.
    """

    # The step of one device. On Explicit axes, JAX rejects the first product: no array has float32[B@fsdp,192@fsdp].
    def loss_of(params: State) -> jax.Array:
        hidden = jax.nn.gelu(x @ params["up"]["kernel"] + params["up"]["bias"])
        out = hidden @ params["down"]["kernel"] + params["down"]["bias"]
        return jnp.mean((out - y) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(state["params"])
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, state["velocity"], grads)
    params = jax.tree.map(lambda p, v: p - 0.1 * v, state["params"], velocity)
    return {"params": params, "velocity": velocity}, loss
