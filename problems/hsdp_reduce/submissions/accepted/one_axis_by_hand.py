"""shard_map is manual over data only: inside a group the partitioner sums, and the sum across is written by hand."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P("data"), out_specs=P(), axis_names={"data"})
    def average(grads):
        def leaf(of_group):
            # In shards first, so that the mean over groups moves shards and not whole gradients.
            shard = jax.lax.with_sharding_constraint(of_group.mean(axis=0), P("fsdp"))
            return jax.lax.pmean(shard, "data")

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
