"""Layers have the directions of other layers. One possible cause: the blocks of layers are taken apart in another order than they were put together."""

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
        devices = jax.lax.axis_size("fsdp")
        turned = jnp.swapaxes(shards.reshape(-1, devices, *shards.shape[1:]), 0, 1).reshape(shards.shape)
        whole = jax.lax.all_to_all(turned, "fsdp", split_axis=0, concat_axis=1, tiled=True)
        return jax.lax.all_to_all(orthogonalize(whole), "fsdp", split_axis=1, concat_axis=0, tiled=True)

    rows, columns = weights.shape[1:]
    momentum = MOMENTUM * momentum + grads
    update = LEARNING_RATE * max(1, rows / columns) ** 0.5 * directions(momentum)
    return {"weights": weights - update, "momentum": momentum}
