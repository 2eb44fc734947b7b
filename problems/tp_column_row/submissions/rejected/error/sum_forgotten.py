"""You declared a result that is equal on all devices, but left out the psum that makes it equal."""

import jax
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh, w1, w2, x):
    def local(columns, rows, x):
        return jax.nn.gelu(x @ columns) @ rows

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "tensor"), P("tensor"), P()), out_specs=P())(w1, w2, x)
