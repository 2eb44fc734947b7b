"""The state contains optax's own tuple under another name, so its leaves are not called mu/..., nu/... and count."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}
ADAM = optax.scale_by_adam(eps=1e-4)


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    adam = ADAM.init(params)

    def place(leaf):
        return jax.device_put(leaf, NamedSharding(mesh, P("fsdp") if leaf.ndim else P()))

    return jax.tree.map(place, {"params": params, "adam": adam})


def loss_fn(params, x, y):
    for name in ("dense1", "dense2"):
        x = nnx.relu(x @ params[name]["kernel"] + params[name]["bias"])
    return jnp.mean((x @ params["dense3"]["kernel"] + params["dense3"]["bias"] - y) ** 2)


def step(mesh, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
    directions, adam = ADAM.update(grads, state["adam"])
    return {"params": jax.tree.map(lambda p, d: p - 1e-2 * d, state["params"], directions), "adam": adam}, loss
