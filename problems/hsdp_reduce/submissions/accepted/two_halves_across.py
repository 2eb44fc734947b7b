"""The sum across groups is a reduce_scatter and an all_gather of the shard."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"))
    def average(grads):
        def leaf(local):
            shard = jax.lax.psum_scatter(local.sum(axis=0), "fsdp", tiled=True)
            part = jax.lax.psum_scatter(shard, "data", tiled=True) / len(kernel)
            # to: the result is equal in all groups, as out_specs says.
            return jax.lax.all_gather(part, "data", tiled=True, to="invarying")

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
