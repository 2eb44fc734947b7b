"""nnx.scan over one module whose variables have a dimension for the layers."""

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
    blocks = stacked(norm, up, down)

    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0))
    def forward(x, block):
        x = block(x)
        return x, jnp.mean(x * x)

    return forward(x, blocks)
