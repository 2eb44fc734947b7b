import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P


def ring_reduce_scatter(mesh, terms):
    n = mesh.size
    ring = [(i, (i + 1) % n) for i in range(n)]

    def work(t):
        me = lax.axis_index("data")
        summed = jnp.sum(t, axis=0)
        rows = summed.shape[0] // n

        def block(k):
            return lax.dynamic_slice_in_dim(summed, (k % n) * rows, rows)

        acc = block(me + n - 1)
        for hop in range(2, n + 1):
            acc = lax.ppermute(acc, "data", ring)
            acc = acc + block(me + n - hop)
        return acc

    return jax.shard_map(work, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(terms)
