"""Constraints only: each weight is created in shards, requested whole where it is used, and updated in shards."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def spec_of(shape: tuple[int, ...], devices: int) -> P:
    """Split the longest dimension that `devices` divides, the first of several; without one the leaf stays whole."""
    fits = [dim for dim, size in enumerate(shape) if size % devices == 0]
    if not fits:
        return P()
    dim = max(fits, key=lambda dim: shape[dim])
    return P(*[None] * dim, "fsdp")


def fsdp_step_sharded(
    mesh: Mesh, seed: int, x: jax.Array, y: jax.Array, lr: float
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Take one SGD step of a linear model; return its loss before that step and its new parameters, in shards."""
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))

    def split(leaf: jax.Array) -> jax.Array:
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec_of(leaf.shape, mesh.shape["fsdp"])))

    def whole(leaf: jax.Array) -> jax.Array:
        return jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, P()))

    def loss_fn(params: dict[str, jax.Array]) -> jax.Array:
        used = jax.tree.map(whole, params)
        return jnp.mean((x @ used["kernel"] + used["bias"] - y) ** 2)

    params = jax.tree.map(split, {"kernel": model.kernel[...], "bias": model.bias[...]})
    loss, grads = jax.value_and_grad(loss_fn)(params)
    new = jax.tree.map(lambda leaf, grad: split(leaf - lr * grad), params, grads)
    return whole(loss), new
