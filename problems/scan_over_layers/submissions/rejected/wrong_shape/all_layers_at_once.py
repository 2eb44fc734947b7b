"""The output has a dimension for the layers. One possible cause: `jax.vmap`, which applies every layer to the same
input; use a scan, which passes on what the layer before it returned."""

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
    graphdef, stack = nnx.split(stacked(norm, up, down))
    outs = jax.vmap(lambda weights: nnx.merge(graphdef, weights)(x))(stack)
    return outs, jnp.mean(outs * outs, axis=(1, 2))
