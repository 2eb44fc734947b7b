"""shard_map cuts what is whole into the pieces that in_specs names, and out_specs puts them together."""

import jax
from jax.sharding import PartitionSpec as P


def place_batch(mesh, tokens, labels, images, temperature):
    batch = {"tokens": tokens, "labels": labels, "images": images, "temperature": temperature}
    specs = {name: P(("data", "fsdp")) if leaf.ndim else P() for name, leaf in batch.items()}
    return jax.shard_map(lambda pieces: pieces, mesh=mesh, in_specs=(specs,), out_specs=specs)(batch)
