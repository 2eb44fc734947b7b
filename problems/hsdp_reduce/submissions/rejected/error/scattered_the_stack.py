"""psum_scatter splits the dimension of the stacked gradients, which has another length than the axis: the gradients of a device have to be added up first, or the dimension named."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"))
    def average(grads):
        def leaf(local):
            return jax.lax.psum(jax.lax.psum_scatter(local, "fsdp"), "data").sum(axis=0) / len(kernel)

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
