"""A shard of your result has rows from two places. One cause is a reduce_scatter over (data, fsdp), which numbers its blocks along fsdp first, and then a gather over data."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"), check_vma=False)
    def average(grads):
        def leaf(local):
            part = jax.lax.psum_scatter(local.sum(axis=0), ("data", "fsdp"), tiled=True) / len(kernel)
            return jax.lax.all_gather(part, "data", tiled=True)

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
