"""Each block of the backward pass computes the stack from its start. Keep the input of each block: then one block is
computed again, not all of those before it."""

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

    blocks = stacked(norm, up, gate, down)

    def forward(layers):
        """The input of the block with this number. All blocks are computed, and those from it on are left out."""

        def apply(x, each):
            number, block = each
            return jnp.where(number < layers, block(x), x), None

        return jax.lax.scan(apply, x, (jnp.arange(len(norm)), blocks))[0]

    loss, error = jax.value_and_grad(lambda out: jnp.mean((out - y) ** 2))(forward(len(norm)))

    def backward(error, each):
        number, block = each
        _, pull = jax.vjp(lambda block, x: block(x), block, forward(number))
        grads, error = pull(error)
        return error, grads

    _, grads = jax.lax.scan(backward, error, (jnp.arange(len(norm)), blocks), reverse=True)
    return loss, (grads.norm.scale[...], grads.up.kernel[...], grads.gate.kernel[...], grads.down.kernel[...])
