"""Sort the divisible dimensions by size; among equal sizes, the first one comes first."""

import math

import jax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def spec_for(shape: tuple[int, ...], devices: int, least: int) -> P:
    """The spec of a leaf on a mesh of one axis, fsdp."""
    divisible = [dim for dim, size in enumerate(shape) if size % devices == 0]
    if not divisible or math.prod(shape) < least:
        return P()
    # max gives the first of several.
    largest = max(divisible, key=lambda dim: shape[dim])
    return P(*[None] * largest, "fsdp")


def place(
    mesh: Mesh,
    least: int,
    table: jax.Array,
    kernel: jax.Array,
    experts: jax.Array,
    bias: jax.Array,
    count: jax.Array,
) -> dict[str, jax.Array]:
    """Place each leaf by its spec."""
    leaves = {"table": table, "kernel": kernel, "experts": experts, "bias": bias, "count": count}
    return {
        name: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_for(leaf.shape, mesh.size, least)))
        for name, leaf in leaves.items()
    }
