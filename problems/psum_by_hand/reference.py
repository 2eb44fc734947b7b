"""Add up what is here, pad to a multiple of the devices, reduce_scatter, all_gather, cut the padding off."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def all_reduce(mesh: Mesh, parts: jax.Array) -> jax.Array:
    """Add up `parts` (M, D), split along M over the mesh axis data, into (D,), whole on every device."""
    length = parts.shape[1]

    def add_up(local: jax.Array) -> jax.Array:
        # (M / devices, D) -> (D,) -> (D padded,) -> (D padded / devices,) -> (D padded,) -> (D,)
        total = jnp.pad(local.sum(axis=0), (0, -length % mesh.shape["data"]))
        chunk = jax.lax.psum_scatter(total, "data", scatter_dimension=0, tiled=True)
        # Without `to`, JAX counts the result as different on each device, and out_specs=P() says that it is equal.
        return jax.lax.all_gather(chunk, "data", axis=0, tiled=True, to="invarying")[:length]

    return jax.shard_map(add_up, mesh=mesh, in_specs=P("data"), out_specs=P())(parts)
