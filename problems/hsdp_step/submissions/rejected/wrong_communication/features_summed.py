"""Every feature of the batch is summed over the devices, to check that all of them are finite. Let each device check
its own rows, so that only a single number has to be summed."""

from functools import partial
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


def init(mesh, seed):

    def build():
        params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(jax.random.key(seed))), nnx.Param))
        zeros = jax.tree.map(jnp.zeros_like, params)
        return {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}

    return jax.jit(build, out_shardings={name: NamedSharding(mesh, spec) for name, spec in SPECS.items()})()


def step(mesh, state, x, y):
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    adam = optax.scale_by_adam(eps=EPSILON)

    def gather(shard):
        shard = jax.lax.pcast(shard, "data", to="varying")
        return jax.lax.all_gather(shard, "fsdp", axis=0, tiled=True)

    def loss_fn(shards, x, y):
        params = jax.tree.map(gather, shards)
        error = nnx.merge(graph, params)(x) - y
        return jax.lax.pmean(jnp.mean(error**2), ("data", "fsdp"))

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, ROWS, ROWS), out_specs=(SPECS, P()))
    def local_step(state, x, y):
        params = state["params"]
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        seen = jax.lax.psum(jnp.sum(x, axis=0), ("data", "fsdp"))
        loss = jnp.where(jnp.isfinite(seen).all(), loss, jnp.nan)
        moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
        directions, moments = adam.update(grads, moments)
        params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, params, directions)
        return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}, loss

    return local_step(state, x, y)
