"""The mean is split over all devices, so no two devices have the same shard. Each group should have all of the mean, in shards over fsdp."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P(("data", "fsdp")))
    def average(grads):
        def leaf(local):
            return jax.lax.psum_scatter(local.sum(axis=0), ("data", "fsdp"), tiled=True) / len(kernel)

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
