from functools import partial

import jax
from jax.sharding import PartitionSpec as P


def ring_reduce_scatter(mesh, terms):
    devices = mesh.shape["data"]
    backwards = tuple((src, (src - 1) % devices) for src in range(devices))

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    def add_up(local):
        position = jax.lax.axis_index("data")
        chunks = local.sum(axis=0).reshape((devices, -1, *local.shape[2:]))

        def hop(carry, offset):
            moved = jax.lax.ppermute(carry, "data", backwards)
            return moved + jax.numpy.take(chunks, (position + offset) % devices, axis=0), ()

        start = jax.numpy.take(chunks, (position + 1) % devices, axis=0)
        result, _ = jax.lax.scan(hop, start, jax.numpy.arange(2, devices + 1))
        return result

    return add_up(terms)
