"""The matrices stay in shards, and in each iteration a Gram matrix is summed over the devices: five sums, and products that every device repeats. Make each matrix whole once."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

LEARNING_RATE, MOMENTUM = 0.02, 0.95


def muon(mesh, weights, momentum, grads):
    @jax.shard_map(mesh=mesh, in_specs=P(None, "fsdp"), out_specs=P(None, "fsdp"))
    def directions(x):
        # The Gram matrix of the columns is a sum over rows. The iteration is the same on either side.
        x = x / (jnp.sqrt(jax.lax.psum(jnp.sum(x * x, axis=(1, 2), keepdims=True), "fsdp")) + 1e-7)
        for _ in range(5):
            gram = jax.lax.psum(x.mT @ x, "fsdp")
            x = 3.4445 * x + x @ (-4.7750 * gram + 2.0315 * gram @ gram)
        return x

    rows, columns = weights.shape[1:]
    momentum = MOMENTUM * momentum + grads
    update = LEARNING_RATE * max(1, rows / columns) ** 0.5 * directions(momentum)
    return {"weights": weights - update, "momentum": momentum}
