"""You stepped once per shard of the batch; the devices of an FSDP job take one step together."""

import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


grads_of = nnx.jit(nnx.grad(loss_fn))


def fsdp_step(seed, x, y, num_shards, lr):
    seed, num_shards, lr = int(seed), int(num_shards), float(lr)
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)
    before = loss_fn(model, x, y)
    pieces = min(num_shards, x.shape[0])
    for rows, targets in zip(np.array_split(x, pieces), np.array_split(y, pieces), strict=True):
        optimizer.update(model, grads_of(model, rows, targets))
    return jnp.array([float(before), float(loss_fn(model, x, y))])
