"""Two partial sums of each block come from both sides and meet on its owner, so no sum has to pass more than half of
the ring. That takes as many ppermutes in all."""

from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def ring_reduce_scatter(mesh, terms):
    devices = mesh.shape["data"]
    right = [(device, (device + 1) % devices) for device in range(devices)]
    left = [(destination, source) for source, destination in right]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def add_up(local):
        me = jax.lax.axis_index("data")
        own = local.sum(axis=0).reshape(devices, -1, local.shape[2])

        def chain(pairs, direction, hops):
            """What arrives from the devices up to `hops` away against the direction, without the device's own term."""
            total = own[(me + direction * hops) % devices]
            for hop in range(hops - 1, 0, -1):
                total = jax.lax.ppermute(total, "data", pairs) + own[(me + direction * hop) % devices]
            return jax.lax.ppermute(total, "data", pairs)

        far = devices // 2
        return own[me] + chain(right, 1, far) + chain(left, -1, devices - 1 - far)

    return add_up(terms)
