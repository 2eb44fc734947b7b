"""You changed the dtype of a leaf. A spec says where an array is, and changes nothing about the array itself."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    divisible = [dim for dim, size in enumerate(shape) if size % devices == 0]
    if not divisible or math.prod(shape) < least:
        return P()
    return P(*[None] * max(divisible, key=lambda dim: shape[dim]), "fsdp")


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    return {
        name: jax.lax.with_sharding_constraint(
            leaf.astype(jnp.bfloat16), NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least))
        )
        for name, leaf in leaves.items()
    }
