"""You returned as many rows as one device has. Under jit, an array is global: return all rows, and let the sharding
decide which device has which."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def place_batch(mesh, tokens, labels, images, temperature):
    batch = {"tokens": tokens, "labels": labels, "images": images, "temperature": temperature}

    def place(leaf):
        if leaf.ndim:
            leaf = leaf[: len(leaf) // mesh.size]
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, P()))

    return jax.tree.map(place, batch)
