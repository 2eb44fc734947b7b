"""You promised a result that is the same everywhere and left out the psum that makes it so."""

import jax
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh, w1, w2, x):
    def local(columns, rows, x):
        return jax.nn.gelu(x @ columns) @ rows

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "tensor"), P("tensor"), P()), out_specs=P())(w1, w2, x)
