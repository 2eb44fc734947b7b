import jax
from jax.sharding import Mesh


def mlp(mesh: Mesh, w1: jax.Array, w2: jax.Array, bias: jax.Array, x: jax.Array) -> jax.Array:
    """relu(x @ w1) @ w2 + bias, on Explicit axes.

    Args:
      mesh: axes "data" and "model", of 4 and 2 or of 2 and 2 devices, both Explicit.
      w1: (D, H), split by columns over model. w2: (H, D), split by rows over model. bias: (D,), split over model.
      x: (B, D), split by rows over data.
    Returns:
      (B, D), split by rows over data, P("data", None).
    """
    # Every array here has its sharding in its type: print(jax.typeof(x)) shows f32[96@data,64].
    hidden = jax.nn.relu(x @ w1)
    return hidden @ w2 + bias  # JAX rejects this product. State its sharding, then move the bias to match.
