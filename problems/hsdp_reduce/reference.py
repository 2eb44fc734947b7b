"""Add up what is here, reduce_scatter inside the group, all_reduce the shard across, divide once."""

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def reduce(mesh: Mesh, kernel: jax.Array, bias: jax.Array) -> dict[str, jax.Array]:
    """Average stacked gradients, split over all devices, into shards over fsdp that are equal in each group of data."""

    def average(local: jax.Array) -> jax.Array:
        # (M / devices, rows, ...) -> (rows, ...), whole and different on each device
        own = local.sum(axis=0)
        # -> (rows / fsdp, ...), the sum of this group -> the same shard, the sum of all groups
        shard = jax.lax.psum_scatter(own, "fsdp", scatter_dimension=0, tiled=True)
        return jax.lax.psum(shard, "data") / len(kernel)

    def reduce_leaves(grads: dict[str, jax.Array]) -> dict[str, jax.Array]:
        return jax.tree.map(average, grads)

    split = jax.shard_map(reduce_leaves, mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"))
    return split({"kernel": kernel, "bias": bias})
