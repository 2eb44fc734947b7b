"""Add up partial sums for own positions only, normalize those, and gather the result before the next product."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def rms_norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    """Divide each position by the root mean square of its features, and scale each feature."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def norm_region(
    mesh: Mesh, hidden: jax.Array, down: jax.Array, stream: jax.Array, scale: jax.Array, up: jax.Array
) -> dict[str, jax.Array]:
    """stream + hidden @ down, and its norm @ up, with the stream split by positions over the mesh axis "tensor"."""

    def local(
        hidden: jax.Array, down: jax.Array, stream: jax.Array, scale: jax.Array, up: jax.Array
    ) -> dict[str, jax.Array]:
        # (B, T, D), all positions, a partial sum -> (B, T / devices, D), own positions, finished
        total = jax.lax.psum_scatter(hidden @ down, "tensor", scatter_dimension=1, tiled=True)
        stream = stream + total
        # (B, T / devices, D) -> (B, T, D)
        normed = jax.lax.all_gather(rms_norm(stream, scale), "tensor", axis=1, tiled=True)
        return {"stream": stream, "hidden": normed @ up}

    positions, units = P(None, "tensor"), P(None, None, "tensor")
    return jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(units, P("tensor"), positions, P(), P(None, "tensor")),
        out_specs={"stream": positions, "hidden": units},
    )(hidden, down, stream, scale, up)
