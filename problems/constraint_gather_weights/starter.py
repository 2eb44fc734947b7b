from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}


def places(mesh: Mesh) -> State:
    """The sharding of each leaf of the state: split along its longest dimension. This function is finished."""
    rows, columns = NamedSharding(mesh, P("fsdp")), NamedSharding(mesh, P(None, "fsdp"))
    kernels = {"dense1": columns, "dense2": rows, "dense3": rows}
    return {"params": {name: {"kernel": kernel, "bias": rows} for name, kernel in kernels.items()}}


def init(mesh: Mesh, seed: int) -> State:
    """Build the parameters and split them as `places` says. This function is finished."""
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    return jax.device_put({"params": params}, places(mesh))


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one SGD step in which weights travel and rows stay. The values are right already; the traffic is not.

    Args:
      mesh: one axis, "fsdp", of 8 or of 4 devices.
      state: what `init` or the previous step returned.
      x: (48, 40) float32, split by rows over "fsdp".
      y: (48, 24) float32, split in the same way.
    Returns:
      The new state, placed as the old one, and the loss before the update.
    """

    def loss_fn(params: Any) -> jax.Array:
        hidden = x
        for name in ("dense1", "dense2"):
            hidden = nnx.relu(hidden @ params[name]["kernel"] + params[name]["bias"])
        return jnp.mean((hidden @ params["dense3"]["kernel"] + params["dense3"]["bias"] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    params = jax.tree.map(lambda p, g: p - 0.1 * g, state["params"], grads)
    return jax.lax.with_sharding_constraint({"params": params}, places(mesh)), loss
