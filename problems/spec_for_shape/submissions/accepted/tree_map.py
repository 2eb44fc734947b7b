"""One constraint for the whole tree, with a tree of shardings."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    fitting = [size for size in shape if size % devices == 0]
    if not fitting or math.prod(shape) < least:
        return P()
    return P(*[None] * shape.index(max(fitting)), "fsdp")


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    shardings = jax.tree.map(lambda leaf: NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)), leaves)
    return jax.lax.with_sharding_constraint(leaves, shardings)
