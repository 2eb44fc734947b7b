"""The iterations run in a loop, in another order of multiplication, and for one matrix under vmap."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

LEARNING_RATE, MOMENTUM = 0.02, 0.95


def orthogonalize(matrix):
    x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix

    def iteration(_, x):
        gram = x @ x.T
        # Even powers first, by Horner's rule.
        return (3.4445 * jnp.eye(len(x)) + gram @ (2.0315 * gram - 4.7750 * jnp.eye(len(x)))) @ x

    x = jax.lax.fori_loop(0, 5, iteration, x / (jnp.sqrt(jnp.sum(x * x)) + 1e-7))
    return x.T if matrix.shape[0] > matrix.shape[1] else x


def muon(mesh, weights, momentum, grads):
    @jax.shard_map(mesh=mesh, in_specs=P(None, "fsdp"), out_specs=P(None, "fsdp"))
    def directions(shards):
        whole = jax.lax.all_to_all(shards, "fsdp", split_axis=0, concat_axis=1, tiled=True)
        return jax.lax.all_to_all(jax.vmap(orthogonalize)(whole), "fsdp", split_axis=1, concat_axis=0, tiled=True)

    rows, columns = weights.shape[1:]
    momentum = MOMENTUM * momentum + grads
    update = LEARNING_RATE * max(1, rows / columns) ** 0.5 * directions(momentum)
    return {"weights": weights - update, "momentum": momentum}
