"""The leaves are returned without their names. Return a dict of name and array, as the starter does."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    divisible = [dim for dim, size in enumerate(shape) if size % devices == 0]
    if not divisible or math.prod(shape) < least:
        return P()
    return P(*[None] * max(divisible, key=lambda dim: shape[dim]), "fsdp")


def place(mesh, least, *leaves):
    return tuple(
        jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for leaf in leaves
    )
