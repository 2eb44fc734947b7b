"""The update written out as p - lr * g over the model's parameters; no optimizer at all."""

import jax
import jax.numpy as jnp
from flax import nnx


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def fsdp_step2(seed, x, y, num_shards, lr):
    seed, num_shards, lr = int(seed), int(num_shards), float(lr)
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    before, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    params = nnx.state(model, nnx.Param)
    nnx.update(model, jax.tree.map(lambda p, g: p - lr * g, params, grads))
    return jnp.array([float(before), float(loss_fn(model, x, y))])
