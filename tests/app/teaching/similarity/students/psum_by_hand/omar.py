from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def ceil_to(value, multiple):
    return -(-value // multiple) * multiple


def all_reduce(mesh, parts):
    size = parts.shape[-1]
    target = ceil_to(size, mesh.size)

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data", None), out_specs=P(), check_vma=False)
    def reduce_then_gather(x):
        buffer = jax.lax.dynamic_update_slice(jnp.zeros(target, x.dtype), x.sum(0), (0,))
        owned = jax.lax.psum_scatter(buffer, axis_name="data", scatter_dimension=0, tiled=True)
        whole = jax.lax.all_gather(owned, axis_name="data", axis=0, tiled=True)
        return jax.lax.slice(whole, (0,), (size,))

    return reduce_then_gather(parts)
