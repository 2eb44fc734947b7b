"""The bias is added before the sum, so the sum contains it once for each device along model."""

import jax
from jax.sharding import PartitionSpec as P


def mlp(mesh, w1, w2, bias, x):
    def local(columns, rows, piece, x):
        whole = jax.lax.all_gather(piece, "model", tiled=True)
        return jax.lax.psum(jax.nn.relu(x @ columns) @ rows + whole, "model")

    specs = (P(None, "model"), P("model"), P("model"), P("data"))
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P("data"), check_vma=False)(w1, w2, bias, x)
