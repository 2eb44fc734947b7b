import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def rms_norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    """Divide each position by the root mean square of its features, and scale each feature. Finished."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def norm_region(
    mesh: Mesh, hidden: jax.Array, down: jax.Array, stream: jax.Array, scale: jax.Array, up: jax.Array
) -> dict[str, jax.Array]:
    """From the hidden units of one MLP to those of the next, on a mesh of one axis, "tensor".

    Args:
      hidden: (B, T, H), split by hidden units, the last dimension.
      down: (H, D), split by rows.
      stream: (B, T, D), split by positions, dimension 1.
      scale: (D,), whole on every device.
      up: (D, F), split by columns.
    Returns:
      "stream": stream + hidden @ down, (B, T, D), split by positions.
      "hidden": rms_norm of the new stream, times up: (B, T, F), split by hidden units.
    """

    def local(
        hidden: jax.Array, down: jax.Array, stream: jax.Array, scale: jax.Array, up: jax.Array
    ) -> dict[str, jax.Array]:
        # The numbers are right. But the stream is whole on every device, and every device normalizes all positions.
        whole = jax.lax.all_gather(stream, "tensor", axis=1, tiled=True)
        whole = whole + jax.lax.psum(hidden @ down, "tensor")
        first = jax.lax.axis_index("tensor") * stream.shape[1]
        own = jax.lax.dynamic_slice_in_dim(whole, first, stream.shape[1], axis=1)
        return {"stream": own, "hidden": rms_norm(whole, scale) @ up}

    positions, units = P(None, "tensor"), P(None, None, "tensor")
    return jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(units, P("tensor"), positions, P(), P(None, "tensor")),
        out_specs={"stream": positions, "hidden": units},
    )(hidden, down, stream, scale, up)
