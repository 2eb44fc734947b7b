"""More than one gradient of a leaf is sent inside the group, and more than one shard across, although each device could add up its own gradients first."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"))
    def average(grads):
        def leaf(local):
            shards = jax.lax.psum_scatter(local, "fsdp", scatter_dimension=1, tiled=True)
            return jax.lax.psum(shards, "data").sum(axis=0) / len(kernel)

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
