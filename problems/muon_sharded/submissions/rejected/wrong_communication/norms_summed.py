"""The norms of the matrices are summed over the devices before the exchange. Where a matrix is whole, so is its norm."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

LEARNING_RATE, MOMENTUM = 0.02, 0.95


def orthogonalize(matrices):
    rows, columns = matrices.shape[-2:]
    x = matrices if rows <= columns else matrices.mT
    for _ in range(5):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x if rows <= columns else x.mT


def muon(mesh, weights, momentum, grads):
    @jax.shard_map(mesh=mesh, in_specs=P(None, "fsdp"), out_specs=P(None, "fsdp"))
    def directions(shards):
        norms = jnp.sqrt(jax.lax.psum(jnp.sum(shards * shards, axis=(1, 2), keepdims=True), "fsdp"))
        whole = jax.lax.all_to_all(shards / (norms + 1e-7), "fsdp", split_axis=0, concat_axis=1, tiled=True)
        return jax.lax.all_to_all(orthogonalize(whole), "fsdp", split_axis=1, concat_axis=0, tiled=True)

    rows, columns = weights.shape[1:]
    momentum = MOMENTUM * momentum + grads
    update = LEARNING_RATE * max(1, rows / columns) ** 0.5 * directions(momentum)
    return {"weights": weights - update, "momentum": momentum}
