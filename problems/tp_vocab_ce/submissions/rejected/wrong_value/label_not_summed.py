"""The label's logit is missing for most tokens. One possible cause: it was not summed over the devices, so only
labels of the first one count."""

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
        label_logit = jnp.where(ids == labels[:, None], logits, 0).sum(axis=1)
        return jnp.log(total) + largest - label_logit

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P(None, "tensor"), P()), out_specs=P(), check_vma=False)(
        hidden, head, labels
    )
