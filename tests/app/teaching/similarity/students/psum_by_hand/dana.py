import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P


def all_reduce(mesh, parts):
    n = mesh.shape["data"]
    d = parts.shape[1]
    missing = (n - d % n) % n

    def body(block):
        mine = jnp.sum(block, 0)
        if missing:
            mine = jnp.append(mine, jnp.zeros((missing,), mine.dtype))
        piece = lax.psum_scatter(mine, "data", tiled=True)
        everything = lax.all_gather(piece, "data", tiled=True)
        return everything[:d]

    mapped = jax.shard_map(body, mesh=mesh, in_specs=(P("data"),), out_specs=P(), check_vma=False)
    return mapped(parts)
