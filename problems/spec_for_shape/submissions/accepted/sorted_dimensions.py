"""The dimensions in the order in which they are tried: by size, then from the left."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    if math.prod(shape) < least:
        return P()
    for dim in sorted(range(len(shape)), key=lambda dim: (-shape[dim], dim)):
        if shape[dim] % devices == 0:
            return P(*[None] * dim, "fsdp")
    return P()


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    return {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for name, leaf in leaves.items()
    }
