"""The momentum and the gradients travel separately, and are added where the matrices are whole. Add the shards first: their sum is half as much to send."""

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
    @jax.shard_map(mesh=mesh, in_specs=(P(None, "fsdp"), P(None, "fsdp")), out_specs=P(None, "fsdp"))
    def directions(momentum, grads):
        momentum, grads = (jax.lax.all_to_all(each, "fsdp", 0, 1, tiled=True) for each in (momentum, grads))
        return jax.lax.all_to_all(orthogonalize(MOMENTUM * momentum + grads), "fsdp", 1, 0, tiled=True)

    rows, columns = weights.shape[1:]
    update = LEARNING_RATE * max(1, rows / columns) ** 0.5 * directions(momentum, grads)
    return {"weights": weights - update, "momentum": MOMENTUM * momentum + grads}
