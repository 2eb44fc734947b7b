"""The axes are in the wrong order. With ("fsdp", "data"), neighbours along data have neighbouring rows. With
("data", "fsdp"), as required, neighbours along fsdp have them."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def place_batch(mesh, tokens, labels, images, temperature):
    batch = {"tokens": tokens, "labels": labels, "images": images, "temperature": temperature}

    def place(leaf):
        spec = P(("fsdp", "data")) if leaf.ndim else P()
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec))

    return jax.tree.map(place, batch)
