"""The weights travel to whole layers and back, together with the momentum. Only the matrices that are orthogonalized have to be whole; the update works on shards."""

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
    def exchange(array, there):
        return jax.lax.all_to_all(array, "fsdp", 0 if there else 1, 1 if there else 0, tiled=True)

    scale = max(1, weights.shape[1] / weights.shape[2]) ** 0.5

    @jax.shard_map(mesh=mesh, in_specs=(P(None, "fsdp"), P(None, "fsdp")), out_specs=P(None, "fsdp"))
    def updated(weights, momentum):
        update = LEARNING_RATE * scale * orthogonalize(exchange(momentum, True))
        return exchange(exchange(weights, True) - update, False)

    momentum = MOMENTUM * momentum + grads
    return {"weights": updated(weights, momentum), "momentum": momentum}
