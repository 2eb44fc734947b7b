"""Your function has another name; the grader calls fsdp_step."""

import jax.numpy as jnp
import optax
from flax import nnx


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def train_step(seed, x, y, num_shards, lr):
    seed, num_shards, lr = int(seed), int(num_shards), float(lr)
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    after = loss_fn(model, x, y)
    return jnp.array([float(loss), float(after)])
