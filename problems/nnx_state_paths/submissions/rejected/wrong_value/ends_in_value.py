"""Every path ends in `/value`. That part is the inside of a variable, where JAX finds the array; the path of the variable ends before it. With is_leaf, flattening stops at the variable."""

import jax
import jax.numpy as jnp
from flax import nnx


class Calls(nnx.Variable):
    pass


class Block(nnx.Module):
    def __init__(self, width, rank, rngs):
        self.norm = nnx.BatchNorm(width, rngs=rngs)
        self.dense = nnx.Linear(width, width, param_dtype=jnp.bfloat16, rngs=rngs)
        self.adapter = nnx.LoRA(width, rank, width, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.calls = Calls(jnp.zeros((), jnp.int32))


class Model(nnx.Module):
    def __init__(self, vocab, width, depth, repeats, rank, tied):
        rngs = nnx.Rngs(0)
        self.embed = nnx.Embed(vocab, width, rngs=rngs)
        self.decoder = nnx.Embed(vocab, width, rngs=rngs)
        if tied:
            self.decoder.embedding = self.embed.embedding
        self.blocks = nnx.List([Block(width, rank, rngs) for _ in range(depth)] * repeats)


def state_table(model):
    def rows(state):
        leaves, _ = jax.tree_util.tree_flatten_with_path(state)
        kinds = [type(variable).__name__ for _, variable in nnx.to_flat_state(state)]
        return [
            (jax.tree_util.keystr(keys, simple=True, separator="/"), kind, leaf.shape, leaf.size * leaf.dtype.itemsize)
            for (keys, leaf), kind in zip(leaves, kinds)
        ]

    return tuple(rows(state) for state in nnx.state(model, nnx.Param, ...))


def table_of(vocab, width, depth, repeats, rank, tied, other_model):
    names = dict(globals())
    exec(other_model, names)
    trainable, other = state_table(nnx.eval_shape(lambda: names["Model"](vocab, width, depth, repeats, rank, tied)))
    return {"trainable": [line(*each) for each in trainable], "other": [line(*each) for each in other]}


def line(path, kind, shape, nbytes):
    return f"{path} {kind} {tuple(shape)} {nbytes}"
