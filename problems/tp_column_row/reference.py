"""Local products of local slices, and one psum at the end of the pair."""

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh: Mesh, w1: jax.Array, w2: jax.Array, x: jax.Array) -> jax.Array:
    """gelu(x @ w1) @ w2, with w1 split by columns and w2 by rows over the mesh axis "tensor"."""

    def local(columns: jax.Array, rows: jax.Array, x: jax.Array) -> jax.Array:
        hidden = jax.nn.gelu(x @ columns)
        return jax.lax.psum(hidden @ rows, "tensor")

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "tensor"), P("tensor"), P()), out_specs=P())(w1, w2, x)
