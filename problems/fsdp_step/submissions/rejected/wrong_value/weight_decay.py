"""You shrank the weights as well; plain SGD has no weight decay."""

import jax.numpy as jnp
import optax
from flax import nnx


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def fsdp_step(seed, x, y, num_shards, lr):
    seed, num_shards, lr = int(seed), int(num_shards), float(lr)
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    tx = optax.chain(optax.add_decayed_weights(1e-1), optax.sgd(lr))
    optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)
    before, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    after = loss_fn(model, x, y)
    return jnp.array([float(before), float(after)])
