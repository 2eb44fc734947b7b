"""Across groups, the gradients are summed by an all_reduce, after which every group has them, and are gathered as well."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE, EPSILON = 1e-2, 1e-4
SPECS = {"params": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}
ROWS = P(("data", "fsdp"))


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x):
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def build(seed):
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}


def init(mesh, seed):
    state = build(seed)
    return {name: jax.device_put(part, NamedSharding(mesh, SPECS[name])) for name, part in state.items()}


def loss_fn(params, x, y):
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    return jnp.mean((nnx.merge(graph, params)(x) - y) ** 2)


def adam(state, grads):
    """The new state, by optax. Works on shards as well as on whole leaves."""
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
    params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["params"], directions)
    return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def step(mesh, state, x, y):
    @jax.shard_map(mesh=mesh, in_specs=(SPECS, ROWS, ROWS), out_specs=(SPECS, P()), check_vma=False)
    def local_step(state, x, y):
        def mean(grad):
            shard = jax.lax.psum_scatter(grad, "fsdp", scatter_dimension=0, tiled=True)
            summed = jax.lax.psum(shard, "data") / mesh.size
            size = len(summed) // mesh.shape["data"]
            own = jax.lax.dynamic_slice_in_dim(summed, jax.lax.axis_index("data") * size, size)
            return jax.lax.all_gather(own, "data", axis=0, tiled=True)

        whole = jax.tree.map(lambda p: jax.lax.all_gather(p, "fsdp", axis=0, tiled=True), state["params"])
        loss, grads = jax.value_and_grad(loss_fn)(whole, x, y)
        return adam(state, jax.tree.map(mean, grads)), jax.lax.pmean(loss, ("data", "fsdp"))

    return local_step(state, x, y)
