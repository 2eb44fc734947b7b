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
    """Make one module whose variables have a leading dimension for the layers. This function is complete."""
    blocks = nnx.eval_shape(lambda: Block(nnx.Rngs(0)))
    nnx.update(blocks, {"norm": {"scale": norm}, "up": {"kernel": up}, "down": {"kernel": down}})
    return blocks


def apply_layers(
    mesh: Mesh, norm: jax.Array, up: jax.Array, down: jax.Array, x: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Apply L blocks, one after the other.

    Args:
      mesh: one device. It is not needed here.
      norm, up, down: (L, 16), (L, 16, 24) and (L, 24, 16) float32, the weights of the blocks.
      x: (B, 16) float32.
    Returns:
      The output of the last block, (B, 16), and the mean square of the activations after each block, (L,).
    """
    graphdef, weights = nnx.split(stacked(norm, up, down))
    # The values are right, but the program has a copy of the block for each layer.
    sizes = []
    for number in range(len(norm)):
        block = nnx.merge(graphdef, jax.tree.map(lambda each, number=number: each[number], weights))
        x = block(x)
        sizes.append(jnp.mean(x * x))
    return x, jnp.stack(sizes)
