"""jax.lax.scan over the stack: the activations are carried, and each layer's size is an output."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import Mesh

WIDTH, HIDDEN = 16, 24


class Block(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)
        self.up = nnx.Linear(WIDTH, HIDDEN, use_bias=False, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, WIDTH, use_bias=False, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return x + self.down(nnx.gelu(self.up(self.norm(x))))


def stacked(norm: jax.Array, up: jax.Array, down: jax.Array) -> Block:
    """Make one module whose variables have a leading dimension for the layers."""
    blocks = nnx.eval_shape(lambda: Block(nnx.Rngs(0)))
    nnx.update(blocks, {"norm": {"scale": norm}, "up": {"kernel": up}, "down": {"kernel": down}})
    return blocks


def apply_layers(
    mesh: Mesh, norm: jax.Array, up: jax.Array, down: jax.Array, x: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Apply the blocks, and return the output and the mean square of the activations after each block."""
    graphdef, weights = nnx.split(stacked(norm, up, down))

    def apply(x: jax.Array, weights: nnx.State) -> tuple[jax.Array, jax.Array]:
        x = nnx.merge(graphdef, weights)(x)
        return x, jnp.mean(x * x)

    return jax.lax.scan(apply, x, weights)
