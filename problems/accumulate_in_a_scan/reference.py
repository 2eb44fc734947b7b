"""One microbatch in each round of jax.lax.scan; loss and gradients are added up in the carry."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh

WIDTH, HIDDEN, OUT = 20, 48, 6


class MLP(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.up = nnx.Linear(WIDTH, HIDDEN, use_bias=False, rngs=rngs)
        self.mid = nnx.Linear(HIDDEN, HIDDEN, use_bias=False, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, OUT, use_bias=False, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.down(nnx.gelu(self.mid(nnx.gelu(self.up(x)))))


def loss_fn(weights: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error over all numbers of y."""
    model = nnx.eval_shape(lambda: MLP(nnx.Rngs(0)))
    nnx.update(model, {name: {"kernel": each} for name, each in zip(("up", "mid", "down"), weights, strict=True)})
    return jnp.mean((model(x) - y) ** 2)


def mean_gradients(
    mesh: Mesh, up: jax.Array, mid: jax.Array, down: jax.Array, x: jax.Array, y: jax.Array, microbatches: int
) -> tuple[jax.Array, Any]:
    """Compute the mean loss and its gradients, one microbatch at a time."""
    weights = up, mid, down
    parts = [each.reshape(microbatches, -1, each.shape[1]) for each in (x, y)]

    def add(total: Any, part: Any) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, total, jax.value_and_grad(loss_fn)(weights, *part)), None

    zeros = jnp.zeros(()), jax.tree.map(jnp.zeros_like, weights)
    total, _ = jax.lax.scan(add, zeros, parts)
    return jax.tree.map(lambda each: each / microbatches, total)
