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
        return jax.lax.all_gather(chunk, "data", axis=0, tiled=True)[:length]

    # all_gather counts its result as different on each device, and P() claims that it is not: hence check_vma=False.
    return jax.shard_map(add_up, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)(parts)
