"""The block is written with jax.numpy, on a tuple of weights."""

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
    def apply(x, weights):
        norm, up, gate, down = weights
        normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * norm
        return x + (jax.nn.silu(normed @ gate) * (normed @ up)) @ down, None

    def loss_fn(weights):
        out, _ = jax.lax.scan(apply, x, weights)
        return jnp.mean((out - y) ** 2)

    return jax.value_and_grad(loss_fn)((norm, up, gate, down))
