"""Whole gradients cross between the groups, because they are summed over data before they are scattered over fsdp. If AD wrote the sums, cast the shard to varying over data before you gather it: AD reverses the order."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"))
    def average(grads):
        def leaf(local):
            def gather(shard):
                whole = jax.lax.all_gather(shard, "fsdp", tiled=True)
                return jax.lax.pcast(whole, "data", to="varying")

            own = local.sum(axis=0)
            n = jax.lax.axis_size("fsdp")
            shard = jax.lax.pcast(jax.numpy.zeros((len(own) // n, *own.shape[1:])), "fsdp", to="varying")
            (summed,) = jax.vjp(gather, shard)[1](own)
            return summed / len(kernel)

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
