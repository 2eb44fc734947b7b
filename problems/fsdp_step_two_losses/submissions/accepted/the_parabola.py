"""The second loss from the first: along one direction a squared error is an exact parabola."""

import jax
import jax.numpy as jnp
from flax import nnx


def fsdp_step2(seed, x, y, num_shards, lr):
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(int(seed)))
    graph, params = nnx.split(model)

    def error_of(params):
        return nnx.merge(graph, params)(x) - y

    before, grads = jax.value_and_grad(lambda params: jnp.mean(error_of(params) ** 2))(params)
    _, along = jax.jvp(error_of, (params,), (grads,))
    squared_norm = sum(jnp.vdot(grad, grad) for grad in jax.tree.leaves(grads))
    return jnp.array([before, before - lr * squared_norm + lr**2 * jnp.mean(along**2)])
