"""Your shards have the gradients of one device in each group: the sum over fsdp is missing. A slice is cut out of a device's own gradients, not out of the group's."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"))
    def average(grads):
        def leaf(local):
            own = local.mean(axis=0)
            rows = len(own) // jax.lax.axis_size("fsdp")
            shard = jax.lax.dynamic_slice_in_dim(own, rows * jax.lax.axis_index("fsdp"), rows)
            return jax.lax.pmean(shard, "data")

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
