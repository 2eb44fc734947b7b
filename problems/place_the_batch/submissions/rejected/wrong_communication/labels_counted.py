"""You compared the labels with the largest label on any device, which takes an exchange. Placing a batch needs none,
not even one of 4 bytes."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def place_batch(mesh, tokens, labels, images, temperature):
    batch = {"tokens": tokens, "labels": labels, "images": images, "temperature": temperature}
    specs = {name: P(("data", "fsdp")) if leaf.ndim else P() for name, leaf in batch.items()}

    def checked(pieces):
        largest = jax.lax.pmax(pieces["labels"].max(), ("data", "fsdp"))
        return pieces | {"labels": jnp.minimum(pieces["labels"], largest)}

    return jax.shard_map(checked, mesh=mesh, in_specs=(specs,), out_specs=specs)(batch)
