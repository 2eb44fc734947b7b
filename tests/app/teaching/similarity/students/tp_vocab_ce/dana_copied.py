import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P


def vocab_ce(mesh, hidden, head, labels, vocab):
    low = -1e9

    def loss(tokens, matrix, ids):
        width = matrix.shape[1]
        start = lax.axis_index("tensor") * width
        logits = tokens @ matrix
        is_real = (jnp.arange(width) + start) < vocab
        logits = jnp.where(is_real[None, :], logits, low)
        # the largest of all devices
        biggest = lax.pmax(jnp.max(logits, axis=-1, keepdims=True), "tensor")
        own = jax.nn.one_hot(ids - start, width)
        picked = lax.psum(jnp.sum(logits * own, axis=-1), "tensor")
        denominator = lax.psum(jnp.sum(jnp.exp(logits - biggest), axis=-1), "tensor")
        return biggest[:, 0] + jnp.log(denominator) - picked

    layout = (P(None, None), P(None, "tensor"), P(None))
    return jax.shard_map(loss, mesh=mesh, in_specs=layout, out_specs=P(None))(hidden, head, labels)
