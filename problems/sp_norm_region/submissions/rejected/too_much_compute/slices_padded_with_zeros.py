"""Each device multiplies with whole weights instead of its own slices. One possible cause: slices were padded with
zeros."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def norm_region(mesh, hidden, down, stream, scale, up):
    def local(hidden, down, stream, scale, up):
        device, n = jax.lax.axis_index("tensor"), mesh.shape["tensor"]
        units = jnp.zeros((*hidden.shape[:2], n * hidden.shape[2]), hidden.dtype)
        units = jax.lax.dynamic_update_slice_in_dim(units, hidden, device * hidden.shape[2], axis=2)
        rows = jnp.zeros((n * down.shape[0], down.shape[1]), down.dtype)
        rows = jax.lax.dynamic_update_slice_in_dim(rows, down, device * down.shape[0], axis=0)
        total = jax.lax.psum_scatter(units @ rows, "tensor", scatter_dimension=1, tiled=True)
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
