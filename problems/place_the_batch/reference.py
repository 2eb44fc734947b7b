"""One spec for all arrays with rows, and an empty one for the scalar."""

from typing import Any

import jax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def place_batch(
    mesh: Mesh, tokens: jax.Array, labels: jax.Array, images: jax.Array, temperature: jax.Array
) -> dict[str, Any]:
    """Place every array with its rows over data and fsdp together, and the scalar on every device."""
    batch = {"tokens": tokens, "labels": labels, "images": images, "temperature": temperature}

    def place(leaf: jax.Array) -> jax.Array:
        spec = P(("data", "fsdp")) if leaf.ndim else P()
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec))

    return jax.tree.map(place, batch)
