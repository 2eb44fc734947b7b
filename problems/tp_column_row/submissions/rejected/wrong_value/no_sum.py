"""You returned one device's partial sum; the other hidden units are missing without a psum."""

import jax
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh, w1, w2, x):
    def local(columns, rows, x):
        return jax.nn.gelu(x @ columns) @ rows

    return jax.shard_map(
        local, mesh=mesh, in_specs=(P(None, "tensor"), P("tensor"), P()), out_specs=P(), check_vma=False
    )(w1, w2, x)
