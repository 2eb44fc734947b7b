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
    """Return the mean squared error over all numbers of y. This function is complete."""
    model = nnx.eval_shape(lambda: MLP(nnx.Rngs(0)))
    nnx.update(model, {name: {"kernel": each} for name, each in zip(("up", "mid", "down"), weights, strict=True)})
    return jnp.mean((model(x) - y) ** 2)


def mean_gradients(
    mesh: Mesh, up: jax.Array, mid: jax.Array, down: jax.Array, x: jax.Array, y: jax.Array, microbatches: int
) -> tuple[jax.Array, Any]:
    """Compute the mean loss of a batch and its gradients, one microbatch at a time.

    Args:
      mesh: one device. It is not needed here.
      up, mid, down: (20, 48), (48, 48) and (48, 6) float32, the weights.
      x, y: (B, 20) and (B, 6) float32, the batch and its targets.
      microbatches: how many equal parts to cut the batch into. It divides B.
    Returns:
      The mean loss of all rows, and its gradients with respect to up, mid and down, in this order.
    """
    # The values are right, but the activations of all rows are in memory at once.
    return jax.value_and_grad(loss_fn)((up, mid, down), x, y)
