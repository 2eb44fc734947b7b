"""The tokens are floats. Placing an array changes neither its values nor its dtype, and tokens index rows of a table."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def place_batch(mesh, tokens, labels, images, temperature):
    batch = {"tokens": tokens.astype(jnp.float32), "labels": labels, "images": images, "temperature": temperature}

    def place(leaf):
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, P(("data", "fsdp")) if leaf.ndim else P()))

    return jax.tree.map(place, batch)
