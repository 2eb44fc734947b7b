"""You applied the gradients with plain optax; the step has to go through nnx.Optimizer."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


@jax.jit
def losses(graph_params, x, y, lr):
    graph, params = graph_params

    def loss_of(params):
        return jnp.mean(optax.losses.squared_error(nnx.merge(graph, params)(x), y))

    tx = optax.sgd(lr)
    before, grads = jax.value_and_grad(loss_of)(params)
    updates, _ = tx.update(grads, tx.init(params), params)
    return jnp.array([before, loss_of(optax.apply_updates(params, updates))])


def fsdp_step(seed, x, y, num_shards, lr):
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(int(seed)))
    return losses(nnx.split(model), x, y, float(lr))
