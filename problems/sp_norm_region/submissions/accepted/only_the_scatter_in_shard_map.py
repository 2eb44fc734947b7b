"""Only the first product and its reduce_scatter are in shard_map. The norm acts on a global array, split by
positions, and a constraint gathers its result."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def norm_region(mesh, hidden, down, stream, scale, up):
    def pin(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    @partial(jax.shard_map, mesh=mesh, in_specs=(P(None, None, "tensor"), P("tensor")), out_specs=P(None, "tensor"))
    def product(hidden, down):
        return jax.lax.psum_scatter(hidden @ down, "tensor", scatter_dimension=1, tiled=True)

    stream = stream + product(hidden, down)
    normed = pin(rms_norm(stream, scale), None, "tensor")
    return {"stream": stream, "hidden": pin(pin(normed) @ up, None, None, "tensor")}
