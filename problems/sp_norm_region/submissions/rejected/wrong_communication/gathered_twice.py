"""Twice the stream's bytes were gathered. One possible cause: the new stream was gathered in addition to its norm."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def norm_region(mesh, hidden, down, stream, scale, up):
    def local(hidden, down, stream, scale, up):
        total = jax.lax.psum_scatter(hidden @ down, "tensor", scatter_dimension=1, tiled=True)
        first = jax.lax.axis_index("tensor") * stream.shape[1]
        stream = stream + total
        normed = jax.lax.all_gather(jnp.stack([stream, rms_norm(stream, scale)]), "tensor", axis=2, tiled=True)
        own = jax.lax.dynamic_slice_in_dim(normed[0], first, stream.shape[1], axis=1)
        return {"stream": own, "hidden": normed[1] @ up}

    positions, units = P(None, "tensor"), P(None, None, "tensor")
    return jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(units, P("tensor"), positions, P(), P(None, "tensor")),
        out_specs={"stream": positions, "hidden": units},
    )(hidden, down, stream, scale, up)
