"""The spec has an entry for every dimension."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def place_batch(mesh, tokens, labels, images, temperature):
    batch = {"tokens": tokens, "labels": labels, "images": images, "temperature": temperature}

    def place(leaf):
        spec = P(("data", "fsdp"), *[None] * (leaf.ndim - 1)) if leaf.ndim else P()
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec))

    return jax.tree.map(place, batch)
