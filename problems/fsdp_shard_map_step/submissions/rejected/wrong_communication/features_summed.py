"""Every feature of the batch goes through a reduce_scatter, to check that all of them are finite. Let each device check
its own rows, so that only a single number has to be summed."""

from functools import partial
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE, EPS = 1e-2, 1e-4
SPECS = {"params": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x):
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


@partial(jax.jit, static_argnums=0)
def init(mesh, seed):
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(jax.random.key(seed))), nnx.Param))
    zeros = jax.tree.map(jnp.zeros_like, params)
    state = {"params": params, "mu": zeros, "nu": zeros, "count": jnp.zeros((), jnp.int32)}
    return {
        name: jax.lax.with_sharding_constraint(state[name], NamedSharding(mesh, spec)) for name, spec in SPECS.items()
    }


def step(mesh, state, x, y):
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))
    adam = optax.scale_by_adam(eps=EPS)

    def loss_fn(shards, x, y):
        params = jax.tree.map(lambda shard: jax.lax.all_gather(shard, "fsdp", axis=0, tiled=True), shards)
        error = nnx.merge(graph, params)(x) - y
        return jax.lax.pmean(jnp.mean(error**2), "fsdp")

    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()))
    def local_step(state, x, y):
        params = state["params"]
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        seen = jax.lax.psum_scatter(jnp.sum(x, axis=0), "fsdp", tiled=True)
        broken = jax.lax.psum(jnp.sum(~jnp.isfinite(seen), dtype=jnp.float32), "fsdp")
        loss = jnp.where(broken == 0, loss, jnp.nan)
        moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
        directions, moments = adam.update(grads, moments)
        params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, params, directions)
        return {"params": params, "mu": moments.mu, "nu": moments.nu, "count": moments.count}, loss

    return local_step(state, x, y)
