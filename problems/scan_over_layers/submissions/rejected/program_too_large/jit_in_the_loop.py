"""The program contains the matrix products of every layer. A Python loop runs while the function is traced, even if
it calls a jitted function, and each of its rounds becomes a part of the program."""

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


@jax.jit
def layer(block, x):
    x = block(x)
    return x, jnp.mean(x * x)


def apply_layers(mesh, norm, up, down, x):
    graphdef, stack = nnx.split(stacked(norm, up, down))
    sizes = []
    for number in range(len(norm)):
        x, size = layer(nnx.merge(graphdef, jax.tree.map(lambda each: each[number], stack)), x)
        sizes.append(size)
    return x, jnp.stack(sizes)
