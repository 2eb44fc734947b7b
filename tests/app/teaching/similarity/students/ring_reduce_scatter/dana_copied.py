import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def ring_reduce_scatter(mesh, terms):
    size = mesh.size

    def local(values):
        total = jnp.sum(values, axis=0)
        height = total.shape[0] // size
        rank = jax.lax.axis_index("data")

        def piece(index):
            begin = (index % size) * height
            return jax.lax.dynamic_slice_in_dim(total, begin, height)

        running = piece(size + rank - 1)
        for step in range(2, 1 + size):
            arrived = jax.lax.ppermute(running, "data", neighbours)
            running = piece(size + rank - step) + arrived
        return running

    neighbours = [(d, (1 + d) % size) for d in range(size)]
    return jax.shard_map(local, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(terms)
