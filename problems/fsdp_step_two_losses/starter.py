import jax
import jax.numpy as jnp
from flax import nnx


def loss_fn(model: nnx.Linear, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((model(x) - y) ** 2)


def fsdp_step2(seed: float, x: jax.Array, y: jax.Array, num_shards: float, lr: float) -> jax.Array:
    """Take one training step of a linear model and return its losses before and after.

    Args:
      seed: seed of the model's weights; cast it to int.
      x: the global batch, (N, D_in).
      y: the targets, (N, D_out).
      num_shards: how many devices would share the parameters; cast it to int. It changes no number.
      lr: learning rate of plain SGD.
    Returns:
      The losses before and after the update, on the same batch, shape (2,), float32.
    """
    seed, num_shards, lr = int(seed), int(num_shards), float(lr)
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    before = loss_fn(model, x, y)
    # Take the step here. So far nothing is updated, and the second loss equals the first one.
    after = loss_fn(model, x, y)
    return jnp.array([float(before), float(after)])
