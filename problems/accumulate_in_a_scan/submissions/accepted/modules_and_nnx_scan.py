"""nnx.value_and_grad of a module, in nnx.scan."""

import jax
import jax.numpy as jnp
from flax import nnx

WIDTH, HIDDEN, OUT = 20, 48, 6


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.up = nnx.Linear(WIDTH, HIDDEN, use_bias=False, rngs=rngs)
        self.mid = nnx.Linear(HIDDEN, HIDDEN, use_bias=False, rngs=rngs)
        self.down = nnx.Linear(HIDDEN, OUT, use_bias=False, rngs=rngs)

    def __call__(self, x):
        return self.down(nnx.gelu(self.mid(nnx.gelu(self.up(x)))))


def loss_fn(weights, x, y):
    model = nnx.eval_shape(lambda: MLP(nnx.Rngs(0)))
    nnx.update(model, {name: {"kernel": each} for name, each in zip(("up", "mid", "down"), weights, strict=True)})
    return jnp.mean((model(x) - y) ** 2)


def mean_gradients(mesh, up, mid, down, x, y, microbatches):
    model = nnx.eval_shape(lambda: MLP(nnx.Rngs(0)))
    nnx.update(model, {name: {"kernel": each} for name, each in (("up", up), ("mid", mid), ("down", down))})
    parts = [each.reshape(microbatches, -1, each.shape[1]) for each in (x, y)]

    def loss_of(model, x, y):
        return jnp.mean((model(x) - y) ** 2)

    @nnx.scan(in_axes=(nnx.Carry, None, 0, 0), out_axes=nnx.Carry)
    def add(total, model, x, y):
        loss, grads = nnx.value_and_grad(loss_of)(model, x, y)
        return jax.tree.map(jnp.add, total, (loss, nnx.to_pure_dict(grads)))

    zeros = jnp.zeros(()), jax.tree.map(jnp.zeros_like, nnx.to_pure_dict(nnx.state(model)))
    loss, grads = jax.tree.map(lambda each: each / microbatches, add(zeros, model, *parts))
    return loss, tuple(grads[name]["kernel"] for name in ("up", "mid", "down"))
