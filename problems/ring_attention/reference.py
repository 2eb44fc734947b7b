"""A scan over the turns, whose carry holds the block that is here and the running maximum, sum and result."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

Running = tuple[jax.Array, jax.Array, jax.Array]
Carry = tuple[Running, jax.Array, jax.Array]


def attention(mesh: Mesh, q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Causal attention of `q`, `k` and `v` (T, H, D), whose positions are split over the mesh axis context."""
    devices = mesh.shape["context"]
    ring = [(device, (device + 1) % devices) for device in range(devices)]

    def local(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        here, own = jax.lax.axis_index("context"), q.shape[0]
        positions = here * own + jnp.arange(own)

        def absorb(running: Running, k: jax.Array, v: jax.Array, turn: int | jax.Array) -> Running:
            """Take in the block that is here in this turn. It comes from the device `turn` places back."""
            most, total, result = running
            seen = (here - turn) % devices * own + jnp.arange(own)
            scores = jnp.einsum("qhd,khd->hqk", q, k) / jnp.sqrt(q.shape[-1])
            scores = jnp.where(seen <= positions[:, None], scores, -jnp.inf)
            above = jnp.maximum(most, scores.max(-1))
            weights, rescale = jnp.exp(scores - above[..., None]), jnp.exp(most - above)
            total = total * rescale + weights.sum(-1)
            result = result * rescale[..., None] + jnp.einsum("hqk,khd->hqd", weights, v)
            return above, total, result

        def one_turn(carry: Carry, turn: jax.Array) -> tuple[Carry, None]:
            running, k, v = carry
            return (absorb(running, k, v, turn), *jax.lax.ppermute((k, v), "context", ring)), None

        # Nothing has been seen yet: the first block's rescale is exp(-inf), which is 0.
        shape = q.shape[1], own
        start = (jnp.full(shape, -jnp.inf), jnp.zeros(shape), jnp.zeros((*shape, q.shape[2])))
        carry = jax.lax.pcast(start, "context", to="varying"), k, v
        (running, k, v), _ = jax.lax.scan(one_turn, carry, jnp.arange(devices - 1))
        _, total, result = absorb(running, k, v, devices - 1)
        return jnp.swapaxes(result / total[..., None], 0, 1)

    positions = P("context")
    return jax.shard_map(local, mesh=mesh, in_specs=positions, out_specs=positions)(q, k, v)
