"""You subtracted lr times the gradient yourself; the step has to go through nnx.Optimizer."""

import jax
import jax.numpy as jnp
from flax import nnx


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def fsdp_step(seed, x, y, num_shards, lr):
    seed, num_shards, lr = int(seed), int(num_shards), float(lr)
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    params = nnx.state(model, nnx.Param)
    nnx.update(model, jax.tree.map(lambda p, g: p - lr * g, params, grads))
    after = loss_fn(model, x, y)
    return jnp.array([float(loss), float(after)])
