"""The program keeps more than one array of (B, 16) for each block. One possible cause: a Python loop, from whose
copies of the block XLA merges the second computation with the first."""

import jax
import jax.numpy as jnp
from flax import nnx

WIDTH, HIDDEN = 16, 48


class Block(nnx.Module):
    def __init__(self, rngs):
        self.norm = nnx.RMSNorm(WIDTH, rngs=rngs)
        self.up = nnx.Linear(WIDTH, HIDDEN, use_bias=False, rngs=rngs)
        self.gate = nnx.Linear(WIDTH, HIDDEN, use_bias=False, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, WIDTH, use_bias=False, rngs=rngs)

    def __call__(self, x):
        normed = self.norm(x)
        return x + self.down(nnx.silu(self.gate(normed)) * self.up(normed))


def stacked(norm, up, gate, down):
    blocks = nnx.eval_shape(lambda: Block(nnx.Rngs(0)))
    kernels = {name: {"kernel": each} for name, each in (("up", up), ("gate", gate), ("down", down))}
    nnx.update(blocks, {"norm": {"scale": norm}, **kernels})
    return blocks


def loss_and_grads(mesh, norm, up, gate, down, x, y):
    @jax.checkpoint
    def apply(x, block):
        return block(x)

    def loss_fn(weights):
        graphdef, state = nnx.split(stacked(*weights))
        out = x
        for number in range(len(norm)):
            out = apply(out, nnx.merge(graphdef, jax.tree.map(lambda each: each[number], state)))
        return jnp.mean((out - y) ** 2)

    return jax.value_and_grad(loss_fn)((norm, up, gate, down))
