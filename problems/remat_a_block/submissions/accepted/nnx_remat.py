"""nnx.remat of the block inside nnx.scan."""

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

    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    @nnx.remat
    def forward(x, block):
        return block(x)

    def loss_fn(blocks):
        return jnp.mean((forward(x, blocks) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(stacked(norm, up, gate, down))
    return loss, tuple(grads[name]["scale" if name == "norm" else "kernel"][...] for name in ("norm", "up", "gate", "down"))
