"""One tiled all_gather along the dimension that is split."""

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def gather(mesh: Mesh, w: jax.Array, dim: int) -> jax.Array:
    """Rebuild `w`, whose dimension `dim` is split over the mesh axis fsdp, whole on every device."""

    def rebuild(shard: jax.Array) -> jax.Array:
        return jax.lax.all_gather(shard, "fsdp", axis=dim, tiled=True)

    split = P(*[None] * dim, "fsdp")
    # all_gather counts its result as different on each device, and P() claims that it is not: hence check_vma=False.
    return jax.shard_map(rebuild, mesh=mesh, in_specs=split, out_specs=P(), check_vma=False)(w)
