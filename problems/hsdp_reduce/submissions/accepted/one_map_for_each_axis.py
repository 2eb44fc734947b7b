"""Two maps, one after the other: the first sums inside the groups, the second across them."""

import jax
from jax.sharding import PartitionSpec as P


def reduce(mesh, kernel, bias):
    everywhere = ("data", "fsdp")

    @jax.shard_map(mesh=mesh, in_specs=P(everywhere), out_specs=P(everywhere))
    def inside(grads):
        return jax.tree.map(lambda g: jax.lax.psum_scatter(g.sum(axis=0), "fsdp", tiled=True), grads)

    @jax.shard_map(mesh=mesh, in_specs=P(everywhere), out_specs=P("fsdp"))
    def across(shards):
        return jax.lax.psum(shards, "data")

    sums = across(inside({"kernel": kernel, "bias": bias}))
    return jax.tree.map(lambda each: each / len(kernel), sums)
