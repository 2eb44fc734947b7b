"""An nnx module is a pytree, so jax.lax.scan can cut it into layers without a split."""

import jax
import jax.numpy as jnp
from flax import nnx

WIDTH, HIDDEN = 16, 24


class Block(nnx.Module):
    def __init__(self, rngs):
        self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)
        self.up = nnx.Linear(WIDTH, HIDDEN, use_bias=False, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, WIDTH, use_bias=False, rngs=rngs)

    def __call__(self, x):
        return x + self.down(nnx.gelu(self.up(self.norm(x))))


def stacked(norm, up, down):
    blocks = nnx.eval_shape(lambda: Block(nnx.Rngs(0)))
    nnx.update(blocks, {"norm": {"scale": norm}, "up": {"kernel": up}, "down": {"kernel": down}})
    return blocks


def apply_layers(mesh, norm, up, down, x):
    def layer(x, block):
        x = block(x)
        return x, (x**2).mean()

    return jax.lax.scan(layer, x, stacked(norm, up, down))
