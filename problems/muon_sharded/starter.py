import jax
import jax.numpy as jnp
from jax.sharding import Mesh

LEARNING_RATE, MOMENTUM = 0.02, 0.95


def orthogonalize(matrices: jax.Array) -> jax.Array:
    """Five Newton-Schulz iterations for each matrix, which move its singular values close to 1.

    This function is finished. It needs whole matrices.

    Args:
      matrices: one matrix, or a stack of them; the last two dimensions are rows and columns.
    Returns:
      The directions, shaped like `matrices`.
    """
    rows, columns = matrices.shape[-2:]
    # The products below grow with the square of the rows, so take the shorter side for them.
    x = matrices if rows <= columns else matrices.mT
    x = x / (jnp.linalg.norm(x, axis=(-2, -1), keepdims=True) + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x if rows <= columns else x.mT


def muon(mesh: Mesh, weights: jax.Array, momentum: jax.Array, grads: jax.Array) -> dict[str, jax.Array]:
    """Take one step of Muon for a stack of matrices.

    Args:
      mesh: one axis, `fsdp`, of 8 or 4 devices.
      weights: (L, R, C): layers, rows, columns. The rows of every layer are split over the devices.
      momentum: like `weights`.
      grads: like `weights`, as an FSDP step reduces them.
    Returns:
      The new `weights` and `momentum`, split as they came in.
    """
    raise NotImplementedError(
        "Update the momentum, orthogonalize whole layers, each on one device, and update the weights."
    )
