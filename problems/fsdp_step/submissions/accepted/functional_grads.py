"""JAX's own value_and_grad over a split model; nnx only applies the gradients."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


def fsdp_step(seed, x, y, num_shards, lr):
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(int(seed)))
    optimizer = nnx.Optimizer(model, optax.sgd(float(lr)), wrt=nnx.Param)
    graph, params = nnx.split(model)

    def loss_of(params):
        residual = nnx.merge(graph, params)(x) - y
        return jnp.mean(jnp.square(residual))

    before, grads = jax.jit(jax.value_and_grad(loss_of))(params)
    optimizer.update(model, grads)
    return jnp.stack([before, loss_of(nnx.state(model))])
