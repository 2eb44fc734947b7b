import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def mlp(mesh: Mesh, w1: jax.Array, w2: jax.Array, bias: jax.Array, x: jax.Array) -> jax.Array:
    """relu(x @ w1) @ w2 + bias, with Explicit axes.

    Args:
      mesh: axes "data" and "model", of 4 and 2 or of 2 and 2 devices.
      w1: (D, H), split by columns over model. w2: (H, D), split by rows over model. bias: (D,), split over model.
      x: (B, D), split by rows over data.
    Returns:
      (B, D), split by rows over data, P("data", None).
    """

    def explicit(w1: jax.Array, w2: jax.Array, bias: jax.Array, x: jax.Array) -> jax.Array:
        # Every array here has its sharding in its type: print(jax.typeof(x)) shows f32[96@data,64].
        hidden = jax.nn.relu(x @ w1)
        return hidden @ w2 + bias  # JAX rejects this product. State its sharding, then move the bias to match.

    in_sharding = (P(None, "model"), P("model", None), P("model"), P("data", None))
    return jax.sharding.explicit_axes(explicit, axes=("data", "model"), in_sharding=in_sharding)(w1, w2, bias, x)
