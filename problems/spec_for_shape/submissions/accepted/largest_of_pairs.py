"""The largest pair of a size and a negative position, with an entry for every dimension."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    pairs = [(size, -dim) for dim, size in enumerate(shape) if not size % devices]
    if math.prod(shape) < least or not pairs:
        return P()
    _, position = max(pairs)
    return P(*[None] * -position, "fsdp", *[None] * (len(shape) + position - 1))


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    return {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for name, leaf in leaves.items()
    }
