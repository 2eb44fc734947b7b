"""Split the variables by the filter that the optimizer has, too, and read each part as a flat list."""

import math

import jax.numpy as jnp
from flax import nnx

Row = tuple[str, str, tuple[int, ...], int]


class Calls(nnx.Variable):
    """How often a block was called: a kind of variable that flax does not have."""


class Block(nnx.Module):
    def __init__(self, width: int, rank: int, rngs: nnx.Rngs) -> None:
        self.norm = nnx.BatchNorm(width, rngs=rngs)
        self.dense = nnx.Linear(width, width, param_dtype=jnp.bfloat16, rngs=rngs)
        self.adapter = nnx.LoRA(width, rank, width, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.calls = Calls(jnp.zeros((), jnp.int32))


class Model(nnx.Module):
    def __init__(self, vocab: int, width: int, depth: int, repeats: int, rank: int, tied: int) -> None:
        rngs = nnx.Rngs(0)
        self.embed = nnx.Embed(vocab, width, rngs=rngs)
        self.decoder = nnx.Embed(vocab, width, rngs=rngs)
        if tied:
            self.decoder.embedding = self.embed.embedding  # the same variable, not a copy
        self.blocks = nnx.List([Block(width, rank, rngs) for _ in range(depth)] * repeats)  # the same objects again


def state_table(model: nnx.Module) -> tuple[list[Row], list[Row]]:
    """The rows of the trainable variables, and those of all others."""
    _, trainable, other = nnx.split(model, nnx.Param, ...)
    return rows_of(trainable), rows_of(other)


def rows_of(state: nnx.State) -> list[Row]:
    """One row for each variable, in the order of the paths."""
    return [
        (
            "/".join(str(part) for part in path),
            type(variable).__name__,
            variable.shape,
            math.prod(variable.shape) * variable.dtype.itemsize,
        )
        for path, variable in nnx.to_flat_state(state)
    ]


def line(path: str, kind: str, shape: tuple[int, ...], nbytes: int) -> str:
    """A row as text."""
    return f"{path} {kind} {tuple(shape)} {nbytes}"


def table_of(
    vocab: int, width: int, depth: int, repeats: int, rank: int, tied: int, other_model: str
) -> dict[str, list[str]]:
    """Trace a model and list it: the one above, unless there is code of another one."""
    names = dict(globals())
    exec(other_model, names)
    trainable, other = state_table(nnx.eval_shape(lambda: names["Model"](vocab, width, depth, repeats, rank, tied)))
    return {"trainable": [line(*row) for row in trainable], "other": [line(*row) for row in other]}
