import jax.numpy as jnp
from flax import nnx

Row = tuple[str, str, tuple[int, ...], int]  # path, kind, shape, bytes


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
    """List each variable of a model once.

    Args:
      model: any module. Its variables have shapes and dtypes, but no values: see `table_of`.
    Returns:
      The rows of the trainable variables, and the rows of all others, each in the order of their paths. A row is, for
      example, ("blocks/0/dense/bias", "Param", (4,), 8).
    """
    raise NotImplementedError


def table_of(
    vocab: int, width: int, depth: int, repeats: int, rank: int, tied: int, other_model: str
) -> dict[str, list[str]]:
    """Trace a model and list it. Nothing needs to change here.

    Args:
      other_model: the code of another class `Model`, which is listed instead of the one above; usually empty.
    """
    names = dict(globals())
    exec(other_model, names)
    model = nnx.eval_shape(lambda: names["Model"](vocab, width, depth, repeats, rank, tied))
    trainable, other = state_table(model)
    return {"trainable": [line(*row) for row in trainable], "other": [line(*row) for row in other]}


def line(path: str, kind: str, shape: tuple[int, ...], nbytes: int) -> str:
    """A row as text, for example `blocks/0/dense/bias Param (4,) 8`. Nothing needs to change here."""
    return f"{path} {kind} {tuple(shape)} {nbytes}"
