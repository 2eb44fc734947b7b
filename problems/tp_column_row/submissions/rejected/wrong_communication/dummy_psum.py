"""Every device gathers the weights and computes everything; the additional all_reduce does not undo that."""

import jax
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh, w1, w2, x):
    def local(columns, rows, x):
        w1 = jax.lax.all_gather(columns, "tensor", axis=1, tiled=True)
        w2 = jax.lax.all_gather(rows, "tensor", axis=0, tiled=True)
        result = jax.nn.gelu(x @ w1) @ w2
        return result + 0.0 * jax.lax.psum(result, "tensor")

    return jax.shard_map(
        local, mesh=mesh, in_specs=(P(None, "tensor"), P("tensor"), P()), out_specs=P(), check_vma=False
    )(w1, w2, x)
