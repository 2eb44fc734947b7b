"""Every device gathers the gradients of all devices and averages them itself. A sum over devices would send one gradient instead of all."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"), check_vma=False)
    def average(grads):
        def leaf(local):
            whole = jax.lax.all_gather(local, ("data", "fsdp"), tiled=True).mean(axis=0)
            rows = len(whole) // jax.lax.axis_size("fsdp")
            return jax.lax.dynamic_slice_in_dim(whole, rows * jax.lax.axis_index("fsdp"), rows)

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
