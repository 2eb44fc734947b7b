"""The losses are split over the devices. Every device needs the loss of every token."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def vocab_ce(mesh, hidden, head, labels, vocab):
    def local(hidden, columns, labels):
        width = columns.shape[1]
        ids = jax.lax.axis_index("tensor") * width + jnp.arange(width)
        logits = jnp.where(ids < vocab, hidden @ columns, -jnp.inf)
        largest = jax.lax.pmax(logits.max(axis=1), "tensor")
        label_logit = jnp.where(ids == labels[:, None], logits, 0).sum(axis=1)
        sums = jnp.stack([jnp.exp(logits - largest[:, None]).sum(axis=1), label_logit])
        total, label_logit = jax.lax.psum_scatter(sums, "tensor", scatter_dimension=1, tiled=True)
        own = jax.lax.dynamic_slice_in_dim(largest, jax.lax.axis_index("tensor") * len(total), len(total))
        return jnp.log(total) + own - label_logit

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P(None, "tensor"), P()), out_specs=P("tensor"))(
        hidden, head, labels
    )
