"""If the largest dimension is not divisible, you split the first one that is. Take the largest of the divisible ones,
even if it is not the largest of all."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    if not shape or math.prod(shape) < least:
        return P()
    largest = max(range(len(shape)), key=lambda dim: shape[dim])
    if shape[largest] % devices == 0:
        return P(*[None] * largest, "fsdp")
    first = next((dim for dim, size in enumerate(shape) if size % devices == 0), None)
    return P() if first is None else P(*[None] * first, "fsdp")


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    return {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for name, leaf in leaves.items()
    }
