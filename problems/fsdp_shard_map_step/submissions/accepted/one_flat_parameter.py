"""All shards of a device joined to one vector: one all_gather and one reduce_scatter for the whole model."""

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


def adam_step(state, grads):
    """Adam on whatever shard of the state the gradients belong to."""
    moments = optax.ScaleByAdamState(state["count"], state["mu"], state["nu"])
    directions, moments = ADAM.update(grads, moments)
    params = jax.tree.map(lambda p, d: p - 1e-2 * d, state["params"], directions)
    return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def step(mesh, state, x, y):
    n = mesh.shape["fsdp"]
    shapes = jax.tree.map(lambda leaf: leaf.shape, state["params"])
    tree = jax.tree.structure(state["params"])

    def split(rows):
        """Cut the last axis into leaves: (n, all of a shard) to whole leaves, whose dimension 0 lies shard after shard."""
        leaves, start = [], 0
        for shape in jax.tree.leaves(shapes, is_leaf=lambda node: isinstance(node, tuple)):
            size = jnp.zeros(shape).size // n
            leaves.append(rows[:, start : start + size].reshape(shape))
            start += size
        return jax.tree.unflatten(tree, leaves)

    @jax.shard_map(mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()))
    def local_step(state, x, y):
        flat = jnp.concatenate([shard.reshape(-1) for shard in jax.tree.leaves(state["params"])])

        def loss_fn(flat):
            return jax.lax.pmean(local_loss(split(jax.lax.all_gather(flat, "fsdp")), x, y), "fsdp")

        loss, flat_grads = jax.value_and_grad(loss_fn)(flat)
        leaves, start = [], 0
        for shard in jax.tree.leaves(state["params"]):
            leaves.append(flat_grads[start : start + shard.size].reshape(shard.shape))
            start += shard.size
        return adam_step(state, jax.tree.unflatten(tree, leaves)), loss

    return local_step(state, x, y)
