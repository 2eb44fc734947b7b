"""The rows of x in four chunks, one after the other: four all_reduces of a quarter each."""

import jax
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh, w1, w2, x):
    def local(columns, rows, x):
        def pair(chunk):
            return jax.lax.psum(jax.nn.gelu(chunk @ columns) @ rows, "tensor")

        return jax.lax.map(pair, x.reshape(4, -1, x.shape[1])).reshape(x.shape[0], -1)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "tensor"), P("tensor"), P()), out_specs=P())(w1, w2, x)
