"""You reported the mean and differentiated the sum, so the step is N x D_out times too long."""

import jax.numpy as jnp
import optax
from flax import nnx


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def fsdp_step(seed, x, y, num_shards, lr):
    seed, num_shards, lr = int(seed), int(num_shards), float(lr)
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)
    before = loss_fn(model, x, y)
    grads = nnx.grad(lambda model: jnp.sum((model(x) - y) ** 2))(model)
    optimizer.update(model, grads)
    after = loss_fn(model, x, y)
    return jnp.array([float(before), float(after)])
