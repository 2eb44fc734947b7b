"""Every device returns its own part of the sum. The product over a split dimension is a partial sum on each device."""

import jax
from jax.sharding import PartitionSpec as P


def mlp(mesh, w1, w2, bias, x):
    def local(columns, rows, piece, x):
        return jax.nn.relu(x @ columns) @ rows + jax.lax.all_gather(piece, "model", tiled=True)

    specs = (P(None, "model"), P("model"), P("model"), P("data"))
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P("data"), check_vma=False)(w1, w2, bias, x)
