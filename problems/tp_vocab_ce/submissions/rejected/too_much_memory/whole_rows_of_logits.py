"""Each device has an array for the logits of the whole vocabulary, with minus infinity for the columns of others. It
needs room for its own columns only."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def vocab_ce(mesh, hidden, head, labels, vocab):
    def local(hidden, columns, labels):
        width = columns.shape[1]
        first = jax.lax.axis_index("tensor") * width
        nothing = jnp.full((len(labels), width * mesh.shape["tensor"]), -jnp.inf, hidden.dtype)
        logits = jax.lax.dynamic_update_slice_in_dim(nothing, hidden @ columns, first, axis=1)
        ids = jnp.arange(logits.shape[1])
        logits = jnp.where(ids < vocab, logits, -jnp.inf)
        own = jax.nn.logsumexp(logits, axis=1)
        label_logit = jnp.where(ids == labels[:, None], logits, -jnp.inf).max(axis=1)
        largest, label_logit = jax.lax.pmax((own, label_logit), "tensor")
        total = jax.lax.psum(jnp.exp(own - largest), "tensor")
        return jnp.log(total) + largest - label_logit

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P(None, "tensor"), P()), out_specs=P())(hidden, head, labels)
