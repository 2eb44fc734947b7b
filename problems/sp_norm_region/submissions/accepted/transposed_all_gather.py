"""The reduce_scatter is the transpose of the all_gather, which JAX derives."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def norm_region(mesh, hidden, down, stream, scale, up):
    def gather(own):
        return jax.lax.all_gather(own, "tensor", axis=1, tiled=True)

    def local(hidden, down, stream, scale, up):
        (total,) = jax.linear_transpose(gather, stream)(hidden @ down)
        stream = stream + total
        return {"stream": stream, "hidden": gather(rms_norm(stream, scale)) @ up}

    positions, units = P(None, "tensor"), P(None, None, "tensor")
    return jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(units, P("tensor"), positions, P(), P(None, "tensor")),
        out_specs={"stream": positions, "hidden": units},
    )(hidden, down, stream, scale, up)
