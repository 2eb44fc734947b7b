"""You wrote the collectives yourself, in shard_map, where shardings are not part of types. State the sharding of the product."""

import jax
from jax.sharding import PartitionSpec as P


def mlp(mesh, w1, w2, bias, x):
    def local(columns, rows, piece, x):
        hidden = jax.nn.relu(x @ columns)
        product = jax.lax.psum(hidden @ rows, "model")
        return product + jax.lax.all_gather(piece, "model", tiled=True)

    specs = (P(None, "model"), P("model"), P("model"), P("data"))
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=P("data"), check_vma=False)(w1, w2, bias, x)
