import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def vocab_ce(mesh: Mesh, hidden: jax.Array, head: jax.Array, labels: jax.Array, vocab: int) -> jax.Array:
    """The cross-entropy of each token, on a mesh of one axis, "tensor".

    Args:
      hidden: (N, D), whole on every device.
      head: (D, V), split by columns. Columns from `vocab` on are padding.
      labels: (N,), int32, from 0 to vocab - 1; whole on every device.
      vocab: how many columns of head count, a Python int.
    Returns:
      logsumexp of each token's logits minus its label's logit, (N,), whole on every device.
    """

    def local(hidden: jax.Array, columns: jax.Array, labels: jax.Array) -> jax.Array:
        # The numbers are right. But all logits travel to every device, and every device has all of them.
        logits = jax.lax.all_gather(hidden @ columns, "tensor", axis=1, tiled=True, to="invarying")[:, :vocab]
        label_logit = jnp.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
        return jax.nn.logsumexp(logits, axis=1) - label_logit

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P(None, "tensor"), P()), out_specs=P())(hidden, head, labels)
