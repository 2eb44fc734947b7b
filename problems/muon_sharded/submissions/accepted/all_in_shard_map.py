"""The whole optimizer is in shard_map, and sees one device's rows."""

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

LEARNING_RATE, MOMENTUM = 0.02, 0.95


def orthogonalize(matrices):
    rows, columns = matrices.shape[-2:]
    x = matrices if rows <= columns else matrices.mT
    x = x / (jnp.linalg.norm(x, axis=(-2, -1), keepdims=True) + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x if rows <= columns else x.mT


def muon(mesh, weights, momentum, grads):
    split = P(None, "fsdp")
    scale = max(1, weights.shape[1] / weights.shape[2]) ** 0.5

    @jax.shard_map(mesh=mesh, in_specs=(split, split, split), out_specs=split)
    def update(weights, momentum, grads):
        momentum = MOMENTUM * momentum + grads
        whole = jax.lax.all_to_all(momentum, "fsdp", 0, 1, tiled=True)
        directions = jax.lax.all_to_all(scale * orthogonalize(whole), "fsdp", 1, 0, tiled=True)
        return {"weights": weights - LEARNING_RATE * directions, "momentum": momentum}

    return update(weights, momentum, grads)
