"""Each device gathers the shards of all groups and adds them up itself. With more than two groups, this sends more than a sum, which adds up on the way."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"), check_vma=False)
    def average(grads):
        def leaf(local):
            shard = jax.lax.psum_scatter(local.sum(axis=0), "fsdp", tiled=True)
            return jax.lax.all_gather(shard, "data").sum(axis=0) / len(kernel)

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
