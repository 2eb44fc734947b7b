"""A leaf stays whole if its largest dimension is not divisible. A smaller dimension may still be divisible: take the largest of the divisible ones."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    if not shape or math.prod(shape) < least:
        return P()
    largest = max(range(len(shape)), key=lambda dim: shape[dim])
    return P(*[None] * largest, "fsdp") if shape[largest] % devices == 0 else P()


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    return {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for name, leaf in leaves.items()
    }
