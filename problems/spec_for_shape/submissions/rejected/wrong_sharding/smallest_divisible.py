"""A leaf is split along its smallest divisible dimension. The rule splits the largest."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    divisible = [dim for dim, size in enumerate(shape) if size % devices == 0]
    if not divisible or math.prod(shape) < least:
        return P()
    return P(*[None] * min(divisible, key=lambda dim: shape[dim]), "fsdp")


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    return {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for name, leaf in leaves.items()
    }
