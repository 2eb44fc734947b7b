"""The older pairing of model and optimizer in one object, which flax still ships."""

import jax.numpy as jnp
import optax
from flax import nnx


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def fsdp_step(seed, x, y, num_shards, lr):
    seed, num_shards, lr = int(seed), int(num_shards), float(lr)
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    pair = nnx.ModelAndOptimizer(model, optax.sgd(lr))
    loss, grads = nnx.value_and_grad(loss_fn)(pair.model, x, y)
    pair.update(grads)
    after = loss_fn(pair.model, x, y)
    return jnp.array([float(loss), float(after)])
