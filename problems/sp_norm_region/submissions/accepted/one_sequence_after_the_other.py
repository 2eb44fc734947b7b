"""A scan over the batch: one pair of collectives for each sequence."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def norm_region(mesh, hidden, down, stream, scale, up):
    def local(hidden, down, stream, scale, up):
        def sequence(_, own):
            hidden, stream = own
            stream = stream + jax.lax.psum_scatter(hidden @ down, "tensor", tiled=True)
            normed = jax.lax.all_gather(rms_norm(stream, scale), "tensor", tiled=True)
            return None, {"stream": stream, "hidden": normed @ up}

        return jax.lax.scan(sequence, None, (hidden, stream))[1]

    positions, units = P(None, "tensor"), P(None, None, "tensor")
    return jax.shard_map(
        local,
        mesh=mesh,
        in_specs=(units, P("tensor"), positions, P(), P(None, "tensor")),
        out_specs={"stream": positions, "hidden": units},
    )(hidden, down, stream, scale, up)
