"""You stepped with the gradients of one shard; the mean includes those of the others."""

import jax.numpy as jnp
import optax
from flax import nnx


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def fsdp_step(seed, x, y, num_shards, lr):
    seed, num_shards, lr = int(seed), int(num_shards), float(lr)
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)
    rows = max(x.shape[0] // num_shards, 1)
    before = loss_fn(model, x, y)
    grads = nnx.grad(loss_fn)(model, x[:rows], y[:rows])
    optimizer.update(model, grads)
    after = loss_fn(model, x, y)
    return jnp.array([float(before), float(after)])
