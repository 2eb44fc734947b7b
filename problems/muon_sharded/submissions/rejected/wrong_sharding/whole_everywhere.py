"""Every device has the whole weights. They stay split by rows, as they came in."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
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
    def pin(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    rows, columns = weights.shape[1:]
    momentum = pin(MOMENTUM * momentum + grads, None, "fsdp")
    directions = pin(pin(orthogonalize(pin(momentum, "fsdp")), "fsdp"))
    return {
        "weights": pin(weights) - LEARNING_RATE * max(1, rows / columns) ** 0.5 * directions,
        "momentum": momentum,
    }
