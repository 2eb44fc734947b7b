"""Your rule splits a leaf only where 8 divides a dimension, on every mesh. Use the number of devices of the mesh that
you get."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    divisible = [dim for dim, size in enumerate(shape) if size % 8 == 0 and size % devices == 0]
    if not divisible or math.prod(shape) < least:
        return P()
    return P(*[None] * max(divisible, key=lambda dim: shape[dim]), "fsdp")


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    return {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for name, leaf in leaves.items()
    }
