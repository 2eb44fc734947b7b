"""Each device has the whole mean of the bias. Small leaves are split like large ones, with `P('fsdp')`."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs={"kernel": P("fsdp"), "bias": P()})
    def average(grads):
        def leaf(local):
            own = local.sum(axis=0)
            if own.ndim == 2:
                return jax.lax.psum(jax.lax.psum_scatter(own, "fsdp", tiled=True), "data") / len(kernel)
            return jax.lax.psum(own, ("data", "fsdp")) / len(kernel)

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
