import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def init(mesh, seed):
    w = jax.random.normal(jax.random.key(seed), (512, 16))
    return {"w": jax.lax.with_sharding_constraint(w, NamedSharding(mesh, P("x"))), "n": jnp.zeros((), jnp.int32)}


def step(mesh, state, x):
    mean = jnp.mean(x, axis=0)
    w = state["w"] - 0.1 * jnp.tanh(state["w"] @ jnp.outer(mean, mean))
    w = jax.lax.with_sharding_constraint(w, NamedSharding(mesh, P("x")))
    return {"w": w, "n": state["n"] + 1}, jnp.mean(jnp.square(mean))
