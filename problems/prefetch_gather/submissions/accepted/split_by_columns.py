"""The shards are transposed before the loop, so that the gather concatenates along the last dimension."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def forward(mesh, weights, x):
    def whole_transposed(columns):
        return jax.lax.all_gather(columns, "fsdp", axis=1, tiled=True)

    def layer(carry, next_columns):
        h, w = carry
        return (jnp.tanh(jnp.einsum("bi,oi->bo", h, w)), whole_transposed(next_columns)), None

    def local(shards, x):
        columns = jnp.swapaxes(shards, 1, 2)
        (h, w), _ = jax.lax.scan(layer, (x, whole_transposed(columns[0])), columns[1:])
        return jnp.tanh(jnp.einsum("bi,oi->bo", h, w))

    return jax.shard_map(local, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P("fsdp"))(weights, x)
