"""A dimension other than the rows is split. P("data", "fsdp") splits two dimensions, P(("data", "fsdp")) splits one
over two axes."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def place_batch(mesh, tokens, labels, images, temperature):
    batch = {"tokens": tokens, "labels": labels, "images": images, "temperature": temperature}

    def place(leaf):
        spec = P("data", "fsdp") if leaf.ndim > 1 else P(("data", "fsdp")) if leaf.ndim else P()
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec))

    return jax.tree.map(place, batch)
