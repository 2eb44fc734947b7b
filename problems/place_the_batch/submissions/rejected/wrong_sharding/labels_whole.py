"""The labels are whole on every device, while the tokens and images are split. Split every array that has rows."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def place_batch(mesh, tokens, labels, images, temperature):
    batch = {"tokens": tokens, "labels": labels, "images": images, "temperature": temperature}

    def place(leaf):
        spec = P(("data", "fsdp")) if leaf.ndim > 1 else P()
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec))

    return jax.tree.map(place, batch)
