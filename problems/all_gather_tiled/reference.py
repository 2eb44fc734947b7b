"""One tiled all_gather along the dimension that is split."""

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def gather(mesh: Mesh, w: jax.Array, dim: int) -> jax.Array:
    """Rebuild `w`, whose dimension `dim` is split over the mesh axis fsdp, whole on every device."""

    def rebuild(shard: jax.Array) -> jax.Array:
        # Without `to`, JAX counts the result as different on each device, and out_specs=P() says that it is equal.
        return jax.lax.all_gather(shard, "fsdp", axis=dim, tiled=True, to="invarying")

    split = P(*[None] * dim, "fsdp")
    return jax.shard_map(rebuild, mesh=mesh, in_specs=split, out_specs=P())(w)
