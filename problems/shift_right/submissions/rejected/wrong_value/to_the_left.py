"""Blocks moved to the left: each device has the block of its right neighbour. A pair is (source, destination), in
this order."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def shift_right(mesh, x, ring):
    devices = mesh.shape["data"]
    pairs = [(device + 1, device) for device in range(devices - 1)]
    if ring:
        pairs.append((0, devices - 1))

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def send(block):
        return jax.lax.ppermute(block, "data", pairs)

    return send(x)
