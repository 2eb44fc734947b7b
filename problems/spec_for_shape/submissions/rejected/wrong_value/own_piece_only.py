"""Elements are missing. A function under `jit` sees whole arrays: give JAX the spec, and do not cut the array yourself."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    divisible = [dim for dim, size in enumerate(shape) if size % devices == 0]
    if not divisible or math.prod(shape) < least:
        return P()
    return P(*[None] * max(divisible, key=lambda dim: shape[dim]), "fsdp")


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    placed = {}
    for name, leaf in leaves.items():
        spec = spec_for(leaf.shape, mesh.size, least)
        rows = leaf.shape[0] // mesh.size if "fsdp" in spec else 0
        kept = leaf.at[rows:].set(0) if rows else leaf
        placed[name] = jax.lax.with_sharding_constraint(kept, NamedSharding(mesh, spec))
    return placed
