"""Each leaf is first split along any dimension that fits, and then along the right one. The second split sends parts of a leaf that every device had whole."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape, devices, least):
    best, elements = None, 1
    for dim, size in enumerate(shape):
        elements *= size
        if size % devices == 0 and (best is None or size > shape[best]):
            best = dim
    if best is None or elements < least:
        return P()
    return P(*("fsdp" if dim == best else None for dim in range(len(shape))))


def place(mesh, least, table, kernel, experts, bias, count):
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}

    def placed(leaf):
        fits = [dim for dim, size in enumerate(leaf.shape) if size % mesh.size == 0]
        first = P(*(None,) * fits[-1], "fsdp") if fits else P()
        for spec in (first, spec_for(leaf.shape, mesh.size, least)):
            leaf = jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec))
        return leaf

    return {name: placed(leaf) for name, leaf in leaves.items()}
