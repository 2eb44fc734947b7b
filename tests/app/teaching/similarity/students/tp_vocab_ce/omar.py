from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def vocab_ce(mesh, hidden, head, labels, vocab):
    per_device = head.shape[1] // mesh.size

    @partial(jax.shard_map, mesh=mesh, in_specs=(P(), P(None, "tensor"), P()), out_specs=P())
    def ce(hidden, columns, labels):
        rank = jax.lax.axis_index("tensor")
        real = jnp.clip(vocab - rank * per_device, 0, per_device)
        logits = jnp.matmul(hidden, columns)
        masked = jax.lax.select(
            jnp.broadcast_to(jnp.arange(per_device) < real, logits.shape), logits, jnp.full_like(logits, -jnp.inf)
        )
        peak = jax.lax.pmax(jax.lax.stop_gradient(masked.max(-1)), "tensor")
        local_label = labels - rank * per_device
        inside = (local_label >= 0) & (local_label < per_device)
        safe = jnp.where(inside, local_label, 0)
        gold = jnp.where(inside, jax.vmap(lambda row, i: row[i])(masked, safe), 0.0)
        exps = jnp.exp(masked - peak[:, None]).sum(-1)
        denominator, gold = jax.lax.psum((exps, gold), "tensor")
        return peak + jnp.log(denominator) - gold

    return ce(hidden, head, labels)
