"""Names imported one by one, arguments by keyword, the mean as a sum over a count."""

import jax.numpy as jnp
from flax.nnx import Linear, Optimizer, Param, Rngs, value_and_grad
from optax import sgd


def mean_squared_error(model, inputs, targets):
    errors = model(inputs) - targets
    return jnp.sum(jnp.square(errors)) / errors.size


def fsdp_step(seed, x, y, num_shards, lr):
    _, d_in = x.shape
    _, d_out = y.shape
    model = Linear(in_features=d_in, out_features=d_out, rngs=Rngs(params=int(seed)))
    optimizer = Optimizer(model=model, tx=sgd(learning_rate=float(lr)), wrt=Param)
    loss, grads = value_and_grad(mean_squared_error)(model, inputs=x, targets=y)
    optimizer.update(model, grads)
    return jnp.asarray((loss, mean_squared_error(model, inputs=x, targets=y)))
