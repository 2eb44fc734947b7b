"""The all_reduce in its two halves, with the piece of the bias added in between."""

import jax
from jax.sharding import PartitionSpec as P


def mlp(mesh, w1, w2, bias, x):
    def local(columns, rows, piece, x):
        part = jax.nn.relu(x @ columns) @ rows
        columns_of_sum = jax.lax.psum_scatter(part, "model", scatter_dimension=1, tiled=True)
        return jax.lax.all_gather(columns_of_sum + piece, "model", axis=1, tiled=True)

    specs = (P(None, "model"), P("model"), P("model"), P("data"))
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P("data"), check_vma=False)(w1, w2, bias, x)
