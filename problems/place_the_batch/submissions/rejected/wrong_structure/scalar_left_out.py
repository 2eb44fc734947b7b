"""temperature is missing. The scalar is part of the batch, too, whole on every device."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def place_batch(mesh, tokens, labels, images, temperature):
    batch = {"tokens": tokens, "labels": labels, "images": images}

    def place(leaf):
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, P(("data", "fsdp")) if leaf.ndim else P()))

    return jax.tree.map(place, batch)
