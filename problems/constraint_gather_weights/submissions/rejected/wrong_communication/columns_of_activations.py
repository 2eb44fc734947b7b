"""The weights are whole, but the activations travel anyway: you request a layer's output split by features, while its
input is split by rows. Keep the activations split by rows."""

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
        params = jax.lax.with_sharding_constraint(params, NamedSharding(mesh, P()))
        hidden = nnx.relu(x @ params["dense1"]["kernel"] + params["dense1"]["bias"])
        hidden = jax.lax.with_sharding_constraint(hidden, NamedSharding(mesh, P(None, "fsdp")))
        hidden = nnx.relu(hidden @ params["dense2"]["kernel"] + params["dense2"]["bias"])
        return jnp.mean((hidden @ params["dense3"]["kernel"] + params["dense3"]["bias"] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    params = jax.tree.map(lambda p, g: p - 0.1 * g, state["params"], grads)
    return jax.lax.with_sharding_constraint({"params": params}, places(mesh)), loss
