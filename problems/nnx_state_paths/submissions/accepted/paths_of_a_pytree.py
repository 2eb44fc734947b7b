"""The model as a JAX pytree, cut at every object that was seen before: a shared one, or one that leads back."""

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
    lists, seen = ([], []), set()

    def is_leaf(node):
        if id(node) in seen:
            return True
        if isinstance(node, nnx.Pytree | nnx.Variable):
            seen.add(id(node))
        return isinstance(node, nnx.Variable)

    listed = set()
    leaves, _ = jax.tree_util.tree_flatten_with_path(model, is_leaf=is_leaf)
    for keys, variable in leaves:
        if not isinstance(variable, nnx.Variable) or id(variable) in listed:
            continue
        listed.add(id(variable))
        path = jax.tree_util.keystr(keys, simple=True, separator="/")
        row = path, type(variable).__name__, variable.shape, variable.size * variable.dtype.itemsize
        lists[not isinstance(variable, nnx.Param)].append(row)
    return lists


def table_of(vocab, width, depth, repeats, rank, tied, other_model):
    names = dict(globals())
    exec(other_model, names)
    trainable, other = state_table(nnx.eval_shape(lambda: names["Model"](vocab, width, depth, repeats, rank, tied)))
    return {"trainable": [line(*each) for each in trainable], "other": [line(*each) for each in other]}


def line(path, kind, shape, nbytes):
    return f"{path} {kind} {tuple(shape)} {nbytes}"
