"""Odd and even columns travel separately. They have to be together before a matrix is orthogonalized."""

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
    @jax.shard_map(mesh=mesh, in_specs=P(None, "fsdp"), out_specs=P(None, "fsdp"))
    def directions(shards):
        pieces = [
            jax.lax.all_to_all(shards[..., first::2], "fsdp", split_axis=0, concat_axis=1, tiled=True) for first in (0, 1)
        ]
        whole = jnp.stack(pieces, axis=-1).reshape(pieces[0].shape[:-1] + (-1,))
        done = orthogonalize(whole)
        pieces = [
            jax.lax.all_to_all(done[..., first::2], "fsdp", split_axis=1, concat_axis=0, tiled=True) for first in (0, 1)
        ]
        return jnp.stack(pieces, axis=-1).reshape(shards.shape)

    rows, columns = weights.shape[1:]
    momentum = MOMENTUM * momentum + grads
    update = LEARNING_RATE * max(1, rows / columns) ** 0.5 * directions(momentum)
    return {"weights": weights - update, "momentum": momentum}
