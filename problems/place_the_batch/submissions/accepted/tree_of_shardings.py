"""A tree of shardings beside the tree of arrays."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def place_batch(mesh, tokens, labels, images, temperature):
    batch = {"tokens": tokens, "labels": labels, "images": images, "temperature": temperature}
    rows, whole = NamedSharding(mesh, P(("data", "fsdp"))), NamedSharding(mesh, P())
    shardings = {"tokens": rows, "labels": rows, "images": rows, "temperature": whole}
    return jax.lax.with_sharding_constraint(batch, shardings)
