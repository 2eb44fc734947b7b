"""A scalar has no dimension that could be split. Its spec is P()."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def place_batch(mesh, tokens, labels, images, temperature):
    batch = {"tokens": tokens, "labels": labels, "images": images, "temperature": temperature}
    rows = NamedSharding(mesh, P(("data", "fsdp")))
    return jax.tree.map(lambda leaf: jax.lax.with_sharding_constraint(leaf, rows), batch)
