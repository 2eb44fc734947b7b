from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh

WIDTH, HIDDEN = 16, 48


class Block(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)
        self.up = nnx.Linear(WIDTH, HIDDEN, use_bias=False, rngs=rngs)
        self.gate = nnx.Linear(WIDTH, HIDDEN, use_bias=False, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, WIDTH, use_bias=False, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        normed = self.norm(x)
        return x + self.down(nnx.silu(self.gate(normed)) * self.up(normed))


def stacked(norm: jax.Array, up: jax.Array, gate: jax.Array, down: jax.Array) -> Block:
    """Make one module whose variables have a leading dimension for the layers. This function is complete."""
    blocks = nnx.eval_shape(lambda: Block(nnx.Rngs(0)))
    kernels = {name: {"kernel": each} for name, each in (("up", up), ("gate", gate), ("down", down))}
    nnx.update(blocks, {"norm": {"scale": norm}, **kernels})
    return blocks


def loss_and_grads(
    mesh: Mesh, norm: jax.Array, up: jax.Array, gate: jax.Array, down: jax.Array, x: jax.Array, y: jax.Array
) -> tuple[jax.Array, Any]:
    """Compute the mean squared error of a stack of L blocks, and its gradients.

    Args:
      mesh: one device. It is not needed here.
      norm, up, gate, down: (L, 16), (L, 16, 48), (L, 16, 48) and (L, 48, 16) float32, the weights of the blocks.
      x, y: (B, 16) float32, the input of the first block and the target of the last one.
    Returns:
      The loss, and the gradients of norm, up, gate and down, in this order.
    """

    def apply(x: jax.Array, block: Block) -> tuple[jax.Array, None]:
        return block(x), None

    def loss_fn(weights: Any) -> jax.Array:
        # The values are right, but the forward pass keeps everything that the backward pass will use.
        out, _ = jax.lax.scan(apply, x, stacked(*weights))
        return jnp.mean((out - y) ** 2)

    return jax.value_and_grad(loss_fn)((norm, up, gate, down))
