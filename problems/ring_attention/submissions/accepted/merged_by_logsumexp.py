"""Each turn computes a finished softmax over its block, and the two results are merged by the logarithms of their
sums."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def attention(mesh, q, k, v):
    devices = mesh.shape["context"]
    ring = [(device, (device + 1) % devices) for device in range(devices)]

    def local(q, k, v):
        here, own = jax.lax.axis_index("context"), q.shape[0]
        positions = here * own + jnp.arange(own)

        def block(k, v, turn):
            seen = (here - turn) % devices * own + jnp.arange(own)
            scores = jnp.einsum("qhd,khd->hqk", q * q.shape[-1] ** -0.5, k)
            scores = jnp.where(seen <= positions[:, None], scores, -1e30)
            amount = jax.nn.logsumexp(scores, axis=-1)
            return amount, jnp.einsum("hqk,khd->hqd", jnp.exp(scores - amount[..., None]), v)

        def merged(first, second):
            (some, one), (more, other) = first, second
            amount = jnp.logaddexp(some, more)
            return amount, one * jnp.exp(some - amount)[..., None] + other * jnp.exp(more - amount)[..., None]

        def one_turn(carry, turn):
            running, k, v = carry
            k, v = jax.lax.ppermute((k, v), "context", ring)
            return (merged(running, block(k, v, turn)), k, v), None

        ((_, result), _, _), _ = jax.lax.scan(one_turn, (block(k, v, 0), k, v), jnp.arange(1, devices))
        return jnp.swapaxes(result, 0, 1)

    return jax.shard_map(local, mesh=mesh, in_specs=P("context"), out_specs=P("context"))(q, k, v)
