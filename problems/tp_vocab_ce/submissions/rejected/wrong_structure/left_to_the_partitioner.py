"""The products and reductions are those that XLA's partitioner chose for global arrays. Here you write them
yourself, in shard_map."""

import jax
import jax.numpy as jnp


def vocab_ce(mesh, hidden, head, labels, vocab):
    logits = jnp.where(jnp.arange(head.shape[1]) < vocab, hidden @ head, -jnp.inf)
    label_logit = jnp.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
    return jax.nn.logsumexp(logits, axis=1) - label_logit
