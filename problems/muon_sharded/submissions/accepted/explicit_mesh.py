"""Explicit axes: the momentum is resharded from rows to layers, and the directions from layers to rows."""

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
    def update(weights, momentum, grads):
        momentum = MOMENTUM * momentum + grads
        directions = orthogonalize(jax.sharding.reshard(momentum, P("fsdp", None, None)))
        directions = jax.sharding.reshard(directions, P(None, "fsdp", None))
        scale = max(1, weights.shape[1] / weights.shape[2]) ** 0.5
        return {"weights": weights - LEARNING_RATE * scale * directions, "momentum": momentum}

    split = P(None, "fsdp", None)
    return jax.sharding.explicit_axes(update, axes=mesh.axis_names, in_sharding=(split,) * 3)(weights, momentum, grads)
