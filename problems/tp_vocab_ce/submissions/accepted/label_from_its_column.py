"""The label's logit is a product of its own: the token with the label's column, on the device that has this column."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def vocab_ce(mesh, hidden, head, labels, vocab):
    def local(hidden, columns, labels):
        width = columns.shape[1]
        ids = jax.lax.axis_index("tensor") * width + jnp.arange(width)
        logits = jnp.where(ids < vocab, hidden @ columns, -jnp.inf)
        largest = jax.lax.pmax(logits.max(axis=1), "tensor")
        total = jax.lax.psum(jnp.exp(logits - largest[:, None]).sum(axis=1), "tensor")
        column = labels - ids[0]
        is_here = (column >= 0) & (column < width)
        picked = columns[:, jnp.where(is_here, column, 0)]
        label_logit = jax.lax.psum(jnp.where(is_here, (hidden * picked.T).sum(axis=1), 0), "tensor")
        return jnp.log(total) + largest - label_logit

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P(None, "tensor"), P()), out_specs=P())(hidden, head, labels)
