"""The start of a Python slice has to be a number when the function is traced, and the counter of a compiled loop
has no value yet. Use `jax.lax.dynamic_slice_in_dim`, or the inputs of a scan."""

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
    weights = up, mid, down
    rows = x.shape[0] // microbatches

    def add(number, total):
        part = [each[number * rows : (number + 1) * rows] for each in (x, y)]
        return jax.tree.map(jnp.add, total, jax.value_and_grad(loss_fn)(weights, *part))

    total = jax.lax.fori_loop(0, microbatches, add, (0.0, jax.tree.map(jnp.zeros_like, weights)))
    return jax.tree.map(lambda each: each / microbatches, total)
