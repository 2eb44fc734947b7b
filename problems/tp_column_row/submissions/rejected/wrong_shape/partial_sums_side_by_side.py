"""You concatenated the partial sums of the devices; the result is their sum, in the shape of x."""

import jax
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh, w1, w2, x):
    def local(columns, rows, x):
        return jax.nn.gelu(x @ columns) @ rows

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "tensor"), P("tensor"), P()), out_specs=P("tensor"))(
        w1, w2, x
    )
