"""All blocks are kept until the last one has arrived, and the scores of all keys are computed together. Take each
block in in its own turn."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def attention(mesh, q, k, v):
    devices = mesh.shape["context"]
    ring = [(device, (device + 1) % devices) for device in range(devices)]

    def local(q, k, v):
        here, own = jax.lax.axis_index("context"), q.shape[0]
        positions = here * own + jnp.arange(own)

        def one_turn(block, _):
            return jax.lax.ppermute(block, "context", ring), block

        last, blocks = jax.lax.scan(one_turn, (k, v), length=devices - 1)
        k, v = (jnp.concatenate([*some, one]) for some, one in zip(blocks, last, strict=True))
        seen = ((here - jnp.arange(devices)) % devices)[:, None] * own + jnp.arange(own)
        scores = jnp.einsum("qhd,khd->hqk", q, k) / jnp.sqrt(q.shape[-1])
        weights = jax.nn.softmax(jnp.where(seen.ravel() <= positions[:, None], scores, -jnp.inf))
        return jnp.einsum("hqk,khd->qhd", weights, v)

    return jax.shard_map(local, mesh=mesh, in_specs=P("context"), out_specs=P("context"))(q, k, v)
