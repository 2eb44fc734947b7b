"""Inside a group, an all_reduce of which each device keeps its own slice."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"))
    def average(grads):
        def leaf(local):
            whole = jax.lax.psum(local.sum(axis=0), "fsdp")
            rows = len(whole) // jax.lax.axis_size("fsdp")
            shard = jax.lax.dynamic_slice_in_dim(whole, rows * jax.lax.axis_index("fsdp"), rows)
            return jax.lax.pmean(shard, "data") * mesh.shape["data"] / len(kernel)

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
