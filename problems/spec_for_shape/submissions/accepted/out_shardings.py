"""The shardings are those of the outputs of a jitted function."""

import math

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    fitting = [size for size in shape if size % devices == 0]
    if not fitting or math.prod(shape) < least:
        return P()
    return P(*[None] * shape.index(max(fitting)), "fsdp")


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    shardings = {name: NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)) for name, leaf in leaves.items()}
    return jax.jit(lambda tree: tree, out_shardings=shardings)(leaves)
