"""Blocks travel in both directions at the same time, so the last one has to pass half of the ring only. That takes as
many ppermutes in all."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def ring_all_gather(mesh, x):
    devices = mesh.shape["data"]
    right = [(device, (device + 1) % devices) for device in range(devices)]
    left = [(destination, source) for source, destination in right]

    @partial(jax.shard_map, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    def gather(block):
        me = jax.lax.axis_index("data")
        whole = jnp.zeros_like(x, shape=x.shape)

        def placed(whole, owner, block):
            return jax.lax.dynamic_update_slice_in_dim(whole, block, owner % devices * len(block), axis=0)

        whole, from_left, from_right = placed(whole, me, block), block, block
        for hop in range(1, devices // 2 + 1):
            from_left = jax.lax.ppermute(from_left, "data", right)
            whole = placed(whole, me - hop, from_left)
            if hop < devices / 2:
                from_right = jax.lax.ppermute(from_right, "data", left)
                whole = placed(whole, me + hop, from_right)
        return whole

    return gather(x)
