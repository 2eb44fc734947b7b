"""Forward pass and gradient as two calls, the loss kept as an auxiliary output."""

import jax.numpy as jnp
import optax
from flax import nnx


def loss_fn(model, x, y):
    per_element = optax.losses.squared_error(model(x), y)
    return per_element.mean(), per_element


def fsdp_step(seed, x, y, num_shards, lr):
    seed, num_shards, lr = int(seed), int(num_shards), float(lr)
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)
    grads, per_element = nnx.grad(loss_fn, has_aux=True)(model, x, y)
    optimizer.update(model, grads)
    after, _ = loss_fn(model, x, y)
    return jnp.hstack([jnp.mean(per_element, keepdims=True).reshape(-1), after])
