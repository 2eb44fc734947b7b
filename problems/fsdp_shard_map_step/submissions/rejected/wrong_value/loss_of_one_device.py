"""Each device returns the loss of its own rows, and only one of these losses is read. Average them over the devices."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}
SPECS = {"params": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}
ADAM = optax.scale_by_adam(eps=1e-4)


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    adam = ADAM.init(params)
    state = {"params": params, "mu": adam.mu, "nu": adam.nu, "count": adam.count}
    return {name: jax.device_put(state[name], NamedSharding(mesh, spec)) for name, spec in SPECS.items()}


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


def adam_step(state, grads):
    """Adam on whatever shard of the state the gradients belong to."""
    moments = optax.ScaleByAdamState(state["count"], state["mu"], state["nu"])
    directions, moments = ADAM.update(grads, moments)
    params = jax.tree.map(lambda p, d: p - 1e-2 * d, state["params"], directions)
    return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def step(mesh, state, x, y):
    @jax.shard_map(mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()), check_vma=False)
    def local_step(state, x, y):
        whole = gather(state["params"])
        loss, grads = jax.value_and_grad(local_loss)(whole, x, y)
        grads = jax.tree.map(lambda g: g / jax.lax.axis_size("fsdp"), scatter(grads))
        return adam_step(state, grads), loss

    return local_step(state, x, y)
