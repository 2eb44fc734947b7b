"""The axes are in the wrong order. With ("fsdp", "data"), neighbours along data hold neighbouring rows. The required
order, ("data", "fsdp"), gives them to neighbours along fsdp."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def place_batch(mesh, tokens, labels, images, temperature):
    batch = {"tokens": tokens, "labels": labels, "images": images, "temperature": temperature}

    def place(leaf):
        spec = P(("fsdp", "data")) if leaf.ndim else P()
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec))

    return jax.tree.map(place, batch)
