"""shard_map without its check of varying values, einsum for the products."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh, w1, w2, x):
    def local(columns, rows, x):
        hidden = jax.nn.gelu(jnp.einsum("bd,dh->bh", x, columns))
        return jax.lax.psum(jnp.einsum("bh,hd->bd", hidden, rows), "tensor")

    return jax.shard_map(
        local, mesh=mesh, in_specs=(P(None, "tensor"), P("tensor"), P()), out_specs=P(), check_vma=False
    )(w1, w2, x)
