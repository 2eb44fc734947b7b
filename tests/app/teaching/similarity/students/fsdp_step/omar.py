import jax.numpy as jnp
import optax
from flax import nnx


def fsdp_step(seed, x, y, num_shards, lr):
    layer = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(int(seed)))
    sgd = nnx.Optimizer(layer, optax.sgd(lr), wrt=nnx.Param)

    def objective(theta):
        return jnp.square(theta(x) - y).mean()

    first = objective(layer)
    sgd.update(layer, nnx.grad(objective)(layer))
    second = objective(layer)
    return jnp.array([first, second], dtype=jnp.float32)
