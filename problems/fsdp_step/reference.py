"""The seven rules, word for word."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


def loss_fn(model: nnx.Linear, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((model(x) - y) ** 2)


def fsdp_step(seed: float, x: jax.Array, y: jax.Array, num_shards: float, lr: float) -> jax.Array:
    """Take one SGD step of a linear model and return its losses before and after that step, of shape (2,)."""
    seed, num_shards, lr = int(seed), int(num_shards), float(lr)
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)
    before, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    after = loss_fn(model, x, y)
    return jnp.array([float(before), float(after)])
