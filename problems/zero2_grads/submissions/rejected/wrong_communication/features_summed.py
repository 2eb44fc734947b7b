"""Every feature of the batch goes through a reduce_scatter, to check that all of them are finite. Let each device check
its own rows, so that only a single number has to be summed."""

from functools import partial
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE, EPSILON = 1e-2, 1e-4
SPECS = {"params": P(), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x):
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def init(mesh, seed):
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
    state = {
        "params": params,
        "mu": jax.tree.map(jnp.zeros_like, params),
        "nu": jax.tree.map(jnp.zeros_like, params),
        "count": jnp.zeros((), jnp.int32),
    }
    return {name: jax.device_put(part, NamedSharding(mesh, SPECS[name])) for name, part in state.items()}


def loss_fn(params, x, y):
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    return jnp.mean((nnx.merge(graph, params)(x) - y) ** 2)


def own_slice(tree):
    parts, index = jax.lax.axis_size("fsdp"), jax.lax.axis_index("fsdp")
    return jax.tree.map(lambda a: jax.lax.dynamic_slice_in_dim(a, index * (len(a) // parts), len(a) // parts), tree)


def adam_update(state, grads):
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPSILON).update(grads, moments)
    params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["params"], directions)
    return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}


def step(mesh, state, x, y):
    rows = P("fsdp")

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, rows, rows), out_specs=(SPECS, P()), check_vma=False)
    def local_step(state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        seen = jax.lax.psum_scatter(jnp.sum(x, axis=0), "fsdp", tiled=True)
        broken = jax.lax.psum(jnp.sum(~jnp.isfinite(seen), dtype=jnp.float32), "fsdp")
        loss = jnp.where(broken == 0, loss, jnp.nan)
        parts = jax.lax.axis_size("fsdp")
        slices = jax.tree.map(lambda g: jax.lax.psum_scatter(g, "fsdp", tiled=True) / parts, grads)
        new = adam_update(state | {"params": own_slice(state["params"])}, slices)
        params = jax.tree.map(lambda p: jax.lax.all_gather(p, "fsdp", tiled=True), new["params"])
        return new | {"params": params}, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
