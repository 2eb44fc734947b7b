"""The step of one device, with the weights constrained to be whole where they are used."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

State = dict[str, Any]

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}


def places(mesh: Mesh) -> State:
    """The sharding of each leaf of the state: split along its longest dimension."""
    rows, columns = NamedSharding(mesh, P("fsdp")), NamedSharding(mesh, P(None, "fsdp"))
    kernels = {"dense1": columns, "dense2": rows, "dense3": rows}
    return {"params": {name: {"kernel": kernel, "bias": rows} for name, kernel in kernels.items()}}


def init(mesh: Mesh, seed: int) -> State:
    """Build the parameters and split them as `places` says."""
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    return jax.device_put({"params": params}, places(mesh))


def step(mesh: Mesh, state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """Take one SGD step. Return the new state and the loss before it."""

    def loss_fn(params: Any) -> jax.Array:
        # Whole where they are used: now the only way to compute the products is to gather weights and leave rows alone.
        params = jax.lax.with_sharding_constraint(params, NamedSharding(mesh, P()))
        hidden = x
        for name in ("dense1", "dense2"):
            hidden = nnx.relu(hidden @ params[name]["kernel"] + params[name]["bias"])
        return jnp.mean((hidden @ params["dense3"]["kernel"] + params["dense3"]["bias"] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    params = jax.tree.map(lambda p, g: p - 0.1 * g, state["params"], grads)
    return jax.lax.with_sharding_constraint({"params": params}, places(mesh)), loss
