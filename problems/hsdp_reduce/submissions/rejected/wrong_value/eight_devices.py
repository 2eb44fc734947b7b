"""Your result is right on 8 devices and too small on fewer. The mesh also has 4 or 6 devices: take the sizes from the mesh, or divide by M."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    @jax.shard_map(mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P("fsdp"))
    def average(grads):
        def leaf(local):
            return jax.lax.psum(jax.lax.psum_scatter(local.mean(axis=0), "fsdp", tiled=True), "data") / 8

        return jax.tree.map(leaf, grads)

    return average({"kernel": kernel, "bias": bias})
