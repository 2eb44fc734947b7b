"""Optax's own state is kept as a tuple under another name, so its leaves are not called mu/..., nu/... and count."""

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


def local_loss(params, x, y):
    """Mean squared error over the rows of one device, with whole weights."""
    for name in ("dense1", "dense2"):
        x = nnx.relu(x @ params[name]["kernel"] + params[name]["bias"])
    return jnp.mean((x @ params["dense3"]["kernel"] + params["dense3"]["bias"] - y) ** 2)


def gather(tree):
    return jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", tiled=True), tree)


def scatter(tree):
    """Sum over devices, keep the own shard."""
    return jax.tree.map(lambda g: jax.lax.psum_scatter(g, "fsdp", scatter_dimension=0, tiled=True), tree)


def step(mesh, state, x, y):
    specs = jax.tree.map(lambda leaf: P("fsdp") if leaf.ndim else P(), state)

    @jax.shard_map(mesh=mesh, in_specs=(specs, P("fsdp"), P("fsdp")), out_specs=(specs, P()), check_vma=False)
    def local_step(state, x, y):
        loss, grads = jax.value_and_grad(local_loss)(gather(state["params"]), x, y)
        grads = jax.tree.map(lambda g: g / jax.lax.axis_size("fsdp"), scatter(grads))
        directions, adam = ADAM.update(grads, state["adam"])
        params = jax.tree.map(lambda p, d: p - 1e-2 * d, state["params"], directions)
        return {"params": params, "adam": adam}, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
