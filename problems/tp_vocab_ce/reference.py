"""Each device reduces its own logits to numbers per token; pmax and psum combine these into the loss."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def vocab_ce(mesh: Mesh, hidden: jax.Array, head: jax.Array, labels: jax.Array, vocab: int) -> jax.Array:
    """logsumexp of each token's logits, hidden @ head[:, :vocab], minus the label's, with head split by columns."""

    def local(hidden: jax.Array, columns: jax.Array, labels: jax.Array) -> jax.Array:
        width = columns.shape[1]
        first = jax.lax.axis_index("tensor") * width
        logits = hidden @ columns
        logits = jnp.where(first + jnp.arange(width) < vocab, logits, -jnp.inf)

        largest = jax.lax.pmax(logits.max(axis=1), "tensor")
        total = jax.lax.psum(jnp.exp(logits - largest[:, None]).sum(axis=1), "tensor")

        # A label is a column of one device. All others read another column, and contribute 0.
        column = labels - first
        is_here = (column >= 0) & (column < width)
        picked = jnp.take_along_axis(logits, jnp.clip(column, 0, width - 1)[:, None], axis=1)[:, 0]
        label_logit = jax.lax.psum(jnp.where(is_here, picked, 0), "tensor")
        return jnp.log(total) + (largest - label_logit)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P(None, "tensor"), P()), out_specs=P())(hidden, head, labels)
