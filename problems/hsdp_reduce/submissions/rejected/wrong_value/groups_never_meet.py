"""The result has one group's mean: the gradients of the other groups never arrive. Each group has its own rows, so its shards also have to be summed over data."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"), check_vma=False)
    def average(grads):
        def leaf(local):
            return jax.lax.psum_scatter(local.mean(axis=0), "fsdp", tiled=True) / jax.lax.axis_size("fsdp")

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
