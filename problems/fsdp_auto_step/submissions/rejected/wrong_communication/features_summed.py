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
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(jax.random.key(seed))), nnx.Param))
    zeros = jax.tree.map(jnp.zeros_like, params)
    split, whole = NamedSharding(mesh, P("fsdp")), NamedSharding(mesh, P())
    state = jax.lax.with_sharding_constraint({"params": params, "mu": zeros, "nu": zeros}, split)
    return state | {"count": jax.lax.with_sharding_constraint(jnp.zeros((), jnp.int32), whole)}


def step(mesh, state, x, y):
    whole, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("fsdp"))
    graph = nnx.graphdef(nnx.eval_shape(lambda: MLP(nnx.Rngs(0))))

    def loss_fn(params):
        params = jax.lax.with_sharding_constraint(params, whole)
        return jnp.mean((nnx.merge(graph, params)(x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state["params"])
    seen = jnp.sum(x, axis=0)
    loss = jnp.where(jnp.isfinite(seen).all(), loss, jnp.nan)
    grads = jax.lax.with_sharding_constraint(grads, split)
    moments = optax.ScaleByAdamState(count=state["count"], mu=state["mu"], nu=state["nu"])
    directions, moments = optax.scale_by_adam(eps=EPS).update(grads, moments)
    params = jax.tree.map(lambda p, d: p - LEARNING_RATE * d, state["params"], directions)
    sharded = jax.lax.with_sharding_constraint({"params": params, "mu": moments.mu, "nu": moments.nu}, split)
    return sharded | {"count": moments.count}, loss
