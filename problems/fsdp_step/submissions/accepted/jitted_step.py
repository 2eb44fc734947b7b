"""One jitted step at module level, shared by all calls; the update happens inside it."""

import jax.numpy as jnp
import optax
from flax import nnx


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


@nnx.jit
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    return jnp.stack([loss, loss_fn(model, x, y)])


def fsdp_step(seed, x, y, num_shards, lr):
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(int(seed)))
    optimizer = nnx.Optimizer(model, optax.sgd(float(lr)), wrt=nnx.Param)
    return train_step(model, optimizer, x, y)
