"""A leaf is split along its first divisible dimension, although a later one is larger. Compare all of them, and take the largest."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    if math.prod(shape) < least:
        return P()
    for dim, size in enumerate(shape):
        if size % devices == 0:
            return P(*[None] * dim, "fsdp")
    return P()


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    return {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for name, leaf in leaves.items()
    }
