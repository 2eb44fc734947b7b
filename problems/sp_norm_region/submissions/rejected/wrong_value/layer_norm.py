"""The mean of a position's features was subtracted. That is a layer norm; rms_norm only divides."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def rms_norm(x, scale):
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(centred * centred, axis=-1, keepdims=True) + 1e-6) * scale


def norm_region(mesh, hidden, down, stream, scale, up):
    def local(hidden, down, stream, scale, up):
        total = jax.lax.psum_scatter(hidden @ down, "tensor", scatter_dimension=1, tiled=True)
        stream = stream + total
        normed = jax.lax.all_gather(rms_norm(stream, scale), "tensor", axis=1, tiled=True)
        return {"stream": stream, "hidden": normed @ up}

    positions, units = P(None, "tensor"), P(None, None, "tensor")
    return jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(units, P("tensor"), positions, P(), P(None, "tensor")),
        out_specs={"stream": positions, "hidden": units},
    )(hidden, down, stream, scale, up)
