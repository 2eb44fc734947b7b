"""Your function has another name; the grader calls vocab_ce."""

import jax
import jax.numpy as jnp


def cross_entropy(mesh, hidden, head, labels, vocab):
    logits = (hidden @ head)[:, :vocab]
    return jax.nn.logsumexp(logits, axis=1) - jnp.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
