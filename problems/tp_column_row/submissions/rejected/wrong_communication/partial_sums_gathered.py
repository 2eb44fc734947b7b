"""You gathered all partial sums and added them up on every device, so as many results travel as there are devices."""

import jax
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh, w1, w2, x):
    def local(columns, rows, x):
        return jax.lax.all_gather(jax.nn.gelu(x @ columns) @ rows, "tensor").sum(axis=0)

    return jax.shard_map(
        local, mesh=mesh, in_specs=(P(None, "tensor"), P("tensor"), P()), out_specs=P(), check_vma=False
    )(w1, w2, x)
