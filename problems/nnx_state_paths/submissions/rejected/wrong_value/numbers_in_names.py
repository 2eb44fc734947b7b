"""Numbers inside names are compared as numbers, so layer2 comes before layer10. Names are text; only indices are numbers."""

import math
import re

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


def row(path, variable):
    nbytes = math.prod(variable.shape) * variable.dtype.itemsize
    return "/".join(map(str, path)), type(variable).__name__, variable.shape, nbytes


def as_people_sort(pair):
    return [
        [(0, int(piece), "") if piece.isdigit() else (1, 0, piece) for piece in re.findall(r"\d+|\D+", str(part))]
        for part in pair[0]
    ]


def rows(state):
    return [row(*each) for each in sorted(nnx.to_flat_state(state), key=as_people_sort)]


def state_table(model):
    _, trainable, other = nnx.split(model, nnx.Param, ...)
    return rows(trainable), rows(other)


def table_of(vocab, width, depth, repeats, rank, tied, other_model):
    names = dict(globals())
    exec(other_model, names)
    trainable, other = state_table(nnx.eval_shape(lambda: names["Model"](vocab, width, depth, repeats, rank, tied)))
    return {"trainable": [line(*each) for each in trainable], "other": [line(*each) for each in other]}


def line(path, kind, shape, nbytes):
    return f"{path} {kind} {tuple(shape)} {nbytes}"
