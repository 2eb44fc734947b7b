"""You changed the shape of a leaf. A leaf without a divisible dimension stays whole: it is not padded."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    return P("fsdp") if shape and math.prod(shape) >= least else P()


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    padded = {
        name: jnp.pad(leaf, [(0, -leaf.shape[0] % mesh.size), *[(0, 0)] * (leaf.ndim - 1)]) if leaf.ndim else leaf
        for name, leaf in leaves.items()
    }
    return {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for name, leaf in padded.items()
    }
