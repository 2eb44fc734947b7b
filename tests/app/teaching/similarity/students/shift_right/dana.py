import jax
from jax.sharding import PartitionSpec as P


def shift_right(mesh, x, ring):
    last = mesh.shape["data"] - 1
    perm = []
    for i in range(last + 1):
        if i < last:
            perm.append((i, i + 1))
        elif ring:
            perm.append((last, 0))

    def move(b):
        return jax.lax.ppermute(b, axis_name="data", perm=perm)

    spec = P("data")
    return jax.shard_map(move, mesh=mesh, in_specs=spec, out_specs=spec)(x)
