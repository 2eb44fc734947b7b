"""Positions are out of order: device k has every n-th position, beginning with position k. P(None, "tensor") gives a
device consecutive positions."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def norm_region(mesh, hidden, down, stream, scale, up):
    def local(hidden, down, stream, scale, up):
        partial = hidden @ down
        blocks = partial.reshape(partial.shape[0], stream.shape[1], -1, partial.shape[2])
        stream = stream + jax.lax.psum_scatter(blocks, "tensor", scatter_dimension=2)
        normed = jax.lax.all_gather(rms_norm(stream, scale), "tensor", axis=2)
        return {"stream": stream, "hidden": normed.reshape(partial.shape) @ up}

    positions, units = P(None, "tensor"), P(None, None, "tensor")
    return jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(units, P("tensor"), positions, P(), P(None, "tensor")),
        out_specs={"stream": positions, "hidden": units},
    )(hidden, down, stream, scale, up)
