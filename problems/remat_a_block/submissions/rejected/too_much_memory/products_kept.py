"""Arrays of the hidden width are kept for all blocks. One possible cause: a policy such as `dots_saveable`, which
keeps the result of each matrix product."""

from functools import partial

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
    @partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_saveable)
    def apply(x, block):
        return block(x), None

    def loss_fn(weights):
        out, _ = jax.lax.scan(apply, x, stacked(*weights))
        return jnp.mean((out - y) ** 2)

    return jax.value_and_grad(loss_fn)((norm, up, gate, down))
