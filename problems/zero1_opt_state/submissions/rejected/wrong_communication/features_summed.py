"""Every feature of the batch is summed over the devices, to check that all of them are finite. Let each device check
its own rows, so that only a single number has to be summed."""

from functools import partial
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE, EPS = 1e-2, 1e-4


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x):
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


@partial(jax.jit, static_argnums=0)
def init(mesh, seed):
    split, whole = NamedSharding(mesh, P("fsdp")), NamedSharding(mesh, P())
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(jax.random.key(seed))), nnx.Param))
    zeros = jax.tree.map(jnp.zeros_like, params)
    moments = jax.lax.with_sharding_constraint({"mu": zeros, "nu": zeros}, split)
    return moments | jax.lax.with_sharding_constraint({"params": params, "count": jnp.zeros((), jnp.int32)}, whole)


def step(mesh, state, x, y):
    split, whole = NamedSharding(mesh, P("fsdp")), NamedSharding(mesh, P())
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))

    def loss_fn(params):
        return jnp.mean((nnx.merge(graph, params)(x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    seen = jnp.sum(x, axis=0)
    loss = jnp.where(jnp.isfinite(seen).all(), loss, jnp.nan)
    params, grads = jax.lax.with_sharding_constraint((state["params"], grads), split)
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPS).update(grads, moments)
    params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, params, directions)
    new = jax.lax.with_sharding_constraint({"params": params, "count": moments.count}, whole)
    return new | jax.lax.with_sharding_constraint({"mu": moments.mu, "nu": moments.nu}, split), loss
