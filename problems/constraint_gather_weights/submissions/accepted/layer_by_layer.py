"""Each layer makes its own weights whole, and jax.checkpoint gathers them again on the way back instead of keeping
them.
"""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}


def places(mesh):
    rows, columns = NamedSharding(mesh, P("fsdp")), NamedSharding(mesh, P(None, "fsdp"))
    kernels = {"dense1": columns, "dense2": rows, "dense3": rows}
    return {"params": {name: {"kernel": kernel, "bias": rows} for name, kernel in kernels.items()}}


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    return jax.device_put({"params": params}, places(mesh))


def step(mesh, state, x, y):
    def loss_fn(params):
        @jax.checkpoint
        def dense(layer, x):
            layer = jax.lax.with_sharding_constraint(layer, NamedSharding(mesh, P()))
            return x @ layer["kernel"] + layer["bias"]

        hidden = nnx.relu(dense(params["dense1"], x))
        hidden = nnx.relu(dense(params["dense2"], hidden))
        return jnp.mean((dense(params["dense3"], hidden) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    params = jax.tree.map(lambda p, g: p - 0.1 * g, state["params"], grads)
    return jax.lax.with_sharding_constraint({"params": params}, places(mesh)), loss
