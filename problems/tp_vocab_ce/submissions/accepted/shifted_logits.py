"""The largest logit is subtracted from all logits first, so it is in the label's logit as well. The finite -1e30
stands for padding."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def vocab_ce(mesh, hidden, head, labels, vocab):
    def local(hidden, columns, labels):
        logits = jnp.einsum("td,dv->vt", hidden, columns)
        ids = jax.lax.axis_index("tensor") * len(logits) + jnp.arange(len(logits))
        logits = jnp.where(ids[:, None] < vocab, logits, -1e30)
        logits = logits - jax.lax.pmax(logits.max(axis=0), "tensor")
        is_label = ids[:, None] == labels
        total = jax.lax.psum(jnp.exp(logits).sum(axis=0), "tensor")
        return jnp.log(total) - jax.lax.psum(jnp.where(is_label, logits, 0).sum(axis=0), "tensor")

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P(None, "tensor"), P()), out_specs=P())(hidden, head, labels)
