"""The mean of the kernel is split by columns. Each leaf should be split along dimension 0."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs={"kernel": P(None, "fsdp"), "bias": P("fsdp")})
    def average(grads):
        def leaf(local):
            own = local.sum(axis=0)
            return jax.lax.psum(jax.lax.psum_scatter(own, "fsdp", scatter_dimension=own.ndim - 1, tiled=True), "data") / len(kernel)

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
