"""Nothing in your program sets where a parameter lives, so every device holds all of it. Inside a program,
jax.device_put does not set it, but with_sharding_constraint does."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


def fsdp_step_sharded(mesh, seed, x, y, lr):
    def loss_fn(model, x, y):
        return jnp.mean((model(x) - y) ** 2)

    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    return loss, {"kernel": model.kernel[...], "bias": model.bias[...]}
