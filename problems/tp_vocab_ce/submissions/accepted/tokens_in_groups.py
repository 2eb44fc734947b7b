"""A scan over groups of tokens, with three reductions for each: a device has the logits of one group at a time."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def vocab_ce(mesh, hidden, head, labels, vocab):
    def local(hidden, columns, labels):
        width = columns.shape[1]
        ids = jax.lax.axis_index("tensor") * width + jnp.arange(width)

        def group(_, tokens):
            hidden, labels = tokens
            logits = jnp.where(ids < vocab, hidden @ columns, -jnp.inf)
            largest = jax.lax.pmax(logits.max(axis=1), "tensor")
            shifted = jnp.exp(logits - largest[:, None]).sum(axis=1)
            label_logit = jnp.where(ids == labels[:, None], logits, 0).sum(axis=1)
            total, label_logit = jax.lax.psum((shifted, label_logit), "tensor")
            return None, jnp.log(total) + largest - label_logit

        groups = hidden.reshape(8, -1, hidden.shape[1]), labels.reshape(8, -1)
        return jax.lax.scan(group, None, groups)[1].ravel()

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P(None, "tensor"), P()), out_specs=P())(hidden, head, labels)
