"""The norm's mean squares are summed over the devices. One possible cause: each device got some features of all
positions, and a position's norm needs all of its features."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def norm_region(mesh, hidden, down, stream, scale, up):
    def local(hidden, down, stream, scale, up):
        own = jax.lax.psum_scatter(hidden @ down, "tensor", scatter_dimension=2, tiled=True)
        own = own + jax.lax.all_to_all(stream, "tensor", split_axis=2, concat_axis=1, tiled=True)
        squares = jax.lax.pmean(jnp.mean(own * own, axis=-1, keepdims=True), "tensor")
        first = jax.lax.axis_index("tensor") * own.shape[2]
        own_scale = jax.lax.dynamic_slice_in_dim(scale, first, own.shape[2])
        normed = own * jax.lax.rsqrt(squares + 1e-6) * own_scale
        normed = jax.lax.all_gather(normed, "tensor", axis=2, tiled=True)
        stream = jax.lax.all_to_all(own, "tensor", split_axis=1, concat_axis=2, tiled=True)
        return {"stream": stream, "hidden": normed @ up}

    positions, units = P(None, "tensor"), P(None, None, "tensor")
    return jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(units, P("tensor"), positions, P(), P(None, "tensor")),
        out_specs={"stream": positions, "hidden": units},
    )(hidden, down, stream, scale, up)
