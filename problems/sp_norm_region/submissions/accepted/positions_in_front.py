"""Positions come first, as in Megatron-LM, so both collectives use dimension 0, their default."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def norm_region(mesh, hidden, down, stream, scale, up):
    def local(hidden, down, stream, scale, up):
        partial = jnp.einsum("bth,hd->tbd", hidden, down)
        stream = stream.swapaxes(0, 1) + jax.lax.psum_scatter(partial, "tensor", tiled=True)
        normed = jax.lax.all_gather(rms_norm(stream, scale), "tensor", tiled=True)
        return {"stream": stream.swapaxes(0, 1), "hidden": jnp.einsum("tbd,df->btf", normed, up)}

    positions, units = P(None, "tensor"), P(None, None, "tensor")
    return jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(units, P("tensor"), positions, P(), P(None, "tensor")),
        out_specs={"stream": positions, "hidden": units},
    )(hidden, down, stream, scale, up)
