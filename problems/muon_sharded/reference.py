"""Momentum on shards; one all_to_all to whole matrices, one back, and the update on shards again."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

LEARNING_RATE, MOMENTUM = 0.02, 0.95


def orthogonalize(matrices: jax.Array) -> jax.Array:
    """Five Newton-Schulz iterations for each matrix of a stack, which move its singular values close to 1."""
    rows, columns = matrices.shape[-2:]
    x = matrices if rows <= columns else matrices.mT
    x = x / (jnp.linalg.norm(x, axis=(-2, -1), keepdims=True) + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x if rows <= columns else x.mT


def muon(mesh: Mesh, weights: jax.Array, momentum: jax.Array, grads: jax.Array) -> dict[str, jax.Array]:
    """One step of Muon for a stack of matrices whose rows are split over fsdp."""

    def directions(shards: jax.Array) -> jax.Array:
        # (layers, rows / devices, columns) -> (layers / devices, rows, columns)
        whole = jax.lax.all_to_all(shards, "fsdp", split_axis=0, concat_axis=1, tiled=True)
        return jax.lax.all_to_all(orthogonalize(whole), "fsdp", split_axis=1, concat_axis=0, tiled=True)

    rows, columns = weights.shape[1:]
    momentum = MOMENTUM * momentum + grads
    split = P(None, "fsdp")
    update = jax.shard_map(directions, mesh=mesh, in_specs=split, out_specs=split)(momentum)
    return {"weights": weights - LEARNING_RATE * max(1, rows / columns) ** 0.5 * update, "momentum": momentum}
