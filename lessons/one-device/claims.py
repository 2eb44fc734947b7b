"""The numbers of the lesson, measured on one device."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import nnx

_DEPTH, _WIDTH, _HIDDEN, _ROWS = 30, 4, 16, 100


class _Block(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(_WIDTH, _WIDTH, use_bias=False, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return x + nnx.tanh(self.linear(x))


def _unrolled(blocks: _Block, x: jax.Array) -> jax.Array:
    for number in range(_DEPTH):
        x = jax.tree.map(lambda w, number=number: w[number], blocks)(x)
    return x


def _looped(blocks: _Block, x: jax.Array) -> jax.Array:
    return jax.lax.scan(lambda x, block: (block(x), None), x, blocks)[0]


def _products(f: Callable[[_Block, jax.Array], jax.Array]) -> int:
    blocks = nnx.vmap(_Block)(nnx.Rngs(0).fork(split=_DEPTH))
    return str(jax.make_jaxpr(f)(blocks, jnp.ones((2, _WIDTH)))).count("dot_general")


def _block(w: jax.Array, x: jax.Array) -> jax.Array:
    return x + jnp.tanh(jnp.sin(x @ w)) @ w.T


def _kept(f: Callable[[jax.Array, jax.Array], jax.Array]) -> int:
    _, pull = jax.vjp(f, jnp.ones((_WIDTH, _HIDDEN)), jnp.ones((_ROWS, _WIDTH)))
    return sum(each.nbytes for each in jax.tree.leaves(pull))


def looped_products():
    """The matrix products in the traced scan over 30 layers."""
    return _products(_looped), "product"


def unrolled_products():
    """The matrix products in the traced Python loop over 30 layers."""
    return _products(_unrolled), "products"


def kept():
    """The bytes that the backward pass of the block needs, including the block's arguments."""
    return _kept(_block), "bytes"


def kept_again():
    """What the backward pass of the block needs with a checkpoint, with its arguments."""
    return _kept(jax.checkpoint(_block)), "bytes"


def saved():
    """What the checkpoint saves."""
    return kept()[0] - kept_again()[0], "bytes"
