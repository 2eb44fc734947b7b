"""Half of each block goes around one way and half the other way, so both directions of each link are used."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def attention(mesh, q, k, v):
    devices = mesh.shape["context"]
    ring = [(device, (device + 1) % devices) for device in range(devices)]

    def local(q, k, v):
        here, own = jax.lax.axis_index("context"), q.shape[0]
        positions = here * own + jnp.arange(own)

        def absorb(running, block, back, half):
            most, total, result = running
            k, v = block
            seen = (here - back) % devices * own + half * len(k) + jnp.arange(len(k))
            scores = jnp.einsum("qhd,khd->hqk", q, k) / jnp.sqrt(q.shape[-1])
            scores = jnp.where(seen <= positions[:, None], scores, -1e30)
            above = jnp.maximum(most, scores.max(-1))
            weights, rescale = jnp.exp(scores - above[..., None]), jnp.exp(most - above)
            total = total * rescale + weights.sum(-1)
            result = result * rescale[..., None] + jnp.einsum("hqk,khd->hqd", weights, v)
            return above, total, result

        def both(running, blocks, turn):
            return absorb(absorb(running, blocks[0], turn, 0), blocks[1], -turn, 1)

        def one_turn(carry, turn):
            running, (first, second) = carry
            running = both(running, (first, second), turn)
            first = jax.lax.ppermute(first, "context", ring)
            second = jax.lax.ppermute(second, "context", [(to, source) for source, to in ring])
            return (running, (first, second)), None

        block = jnp.stack([k, v])
        shape = q.shape[1], own
        start = jnp.full(shape, -1e30), jnp.zeros(shape), jnp.zeros((*shape, q.shape[2]))
        carry = jax.lax.pcast(start, "context", to="varying"), (block[:, : own // 2], block[:, own // 2 :])
        (running, blocks), _ = jax.lax.scan(one_turn, carry, jnp.arange(devices - 1))
        _, total, result = both(running, blocks, devices - 1)
        return jnp.swapaxes(result / total[..., None], 0, 1)

    return jax.shard_map(local, mesh=mesh, in_specs=P("context"), out_specs=P("context"))(q, k, v)
