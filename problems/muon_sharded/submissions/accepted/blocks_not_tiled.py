"""all_to_all without tiling: the blocks for the devices have a dimension of their own."""

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
        layers, rows, columns = shards.shape
        devices = jax.lax.axis_size("fsdp")
        blocks = jax.lax.all_to_all(shards.reshape(devices, -1, rows, columns), "fsdp", split_axis=0, concat_axis=0)
        whole = jnp.swapaxes(blocks, 0, 1).reshape(-1, devices * rows, columns)
        done = jnp.swapaxes(orthogonalize(whole).reshape(-1, devices, rows, columns), 0, 1)
        return jax.lax.all_to_all(done, "fsdp", split_axis=0, concat_axis=0).reshape(shards.shape)

    rows, columns = weights.shape[1:]
    momentum = MOMENTUM * momentum + grads
    update = LEARNING_RATE * max(1, rows / columns) ** 0.5 * directions(momentum)
    return {"weights": weights - update, "momentum": momentum}
