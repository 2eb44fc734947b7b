"""The models of nnx_state_paths. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator

import numpy as np

Case = dict[str, int | str]

# Models that no submission contains: a function that knows the rows of the starter's model knows nothing of theirs.
# They are run in the names of the submission's file, so each imports what it uses.
# Experts share one of them across layers, the first path of a router leads through another attribute, and there is a
# subclass of Param, a kind of variable with another dtype, and a variable of the model itself.
EXPERTS = """
import jax.numpy as jnp
from flax import nnx


class Gain(nnx.Param):
    pass


class Load(nnx.Variable):
    pass


class Expert(nnx.Module):
    def __init__(self, width, rank, rngs):
        self.up = nnx.Linear(width, rank, use_bias=False, param_dtype=jnp.float16, rngs=rngs)
        self.gain = Gain(jnp.ones((rank,), jnp.bfloat16))


class Layer(nnx.Module):
    def __init__(self, width, depth, rank, shared, rngs):
        self.experts = nnx.List([shared, *(Expert(width, rank, rngs) for _ in range(depth))])
        self.router = nnx.Linear(width, depth + 1, rngs=rngs)
        self.load = Load(jnp.zeros((depth + 1,), jnp.int16))


class Model(nnx.Module):
    def __init__(self, vocab, width, depth, repeats, rank, tied):
        rngs = nnx.Rngs(0)
        shared = Expert(width, rank, rngs)
        self.layers = nnx.List([Layer(width, depth, rank, shared, rngs) for _ in range(repeats)])
        self.balance = self.layers[repeats - 1].router
        self.table = nnx.Param(jnp.zeros((vocab, width), jnp.bfloat16))
"""
# A list of lists, statistics that two normalizations share, and the random state of the model itself.
TOWERS = """
import jax.numpy as jnp
from flax import nnx


class Step(nnx.Module):
    def __init__(self, width, rank, rngs):
        self.mix = nnx.LoRALinear(width, width, lora_rank=rank, use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(width, use_scale=False, rngs=rngs)


class Model(nnx.Module):
    def __init__(self, vocab, width, depth, repeats, rank, tied):
        self.rngs = nnx.Rngs(0)
        self.towers = nnx.List(
            [nnx.List([Step(width, rank, self.rngs) for _ in range(depth)]) for _ in range(repeats)]
        )
        self.head = nnx.Linear(width, vocab, param_dtype=jnp.float16, rngs=self.rngs)
        if tied:
            self.towers[repeats - 1][depth - 1].norm.mean = self.towers[0][0].norm.mean
"""

# Digits in names: as text, layer10 comes before layer2, so it has the first path to the norm that the two share.
NUMBERED = """
import jax.numpy as jnp
from flax import nnx


class Scale(nnx.Param):
    pass


class Layer(nnx.Module):
    def __init__(self, width, rank, shared, rngs):
        self.norm = shared
        self.w2 = nnx.Linear(width, rank, rngs=rngs)
        self.w10 = nnx.Linear(rank, width, use_bias=False, param_dtype=jnp.bfloat16, rngs=rngs)
        self.scale9 = Scale(jnp.ones((rank,), jnp.float16))
        self.scale11 = Scale(jnp.ones((width, 1), jnp.bfloat16))


class Model(nnx.Module):
    def __init__(self, vocab, width, depth, repeats, rank, tied):
        rngs = nnx.Rngs(0)
        shared = nnx.BatchNorm(width, use_bias=False, rngs=rngs)
        for number in (1, 2, 9, 10, 100)[: depth]:
            setattr(self, f"layer{number}", Layer(width + number, rank, shared, rngs))
        self.table3 = nnx.Embed(vocab, width, rngs=rngs)
        self.table20 = nnx.Embed(vocab, rank, rngs=rngs)
"""
# A cycle: blocks know the next one, the last knows the first, and all know the model. Only the path to a block differs
# from its name.
RING = """
import jax.numpy as jnp
from flax import nnx


class Visits(nnx.Variable):
    pass


class Block(nnx.Module):
    def __init__(self, model, width, rank, rngs):
        self.up = nnx.Linear(width, rank, use_bias=False, rngs=rngs)
        self.visits = Visits(jnp.zeros((width,), jnp.int8))
        self.model = model


class Model(nnx.Module):
    def __init__(self, vocab, width, depth, repeats, rank, tied):
        rngs = nnx.Rngs(0)
        blocks = [Block(self, width + number, rank, rngs) for number in range(depth)]
        for number, block in enumerate(blocks):
            block.next = blocks[(number + 1) % depth]
        self.first = blocks[0]
        self.all = nnx.List(blocks[1:])
        self.out = nnx.Param(jnp.zeros((rank, vocab), jnp.float16))
"""


def public_cases() -> list[Case]:
    """A small model in which nothing is shared, and a large one in which blocks and a table are."""
    return [
        {"vocab": 10, "width": 4, "depth": 1, "repeats": 1, "rank": 2, "tied": 0, "other_model": ""},
        {"vocab": 32000, "width": 4096, "depth": 2, "repeats": 2, "rank": 8, "tied": 1, "other_model": ""},
    ]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _draw(rng, depth=3, repeats=1, tied=0)
    # Block 10 comes after block 9, and only text puts it before block 2.
    yield _draw(rng, depth=11, repeats=1, tied=0)
    # Each kind of sharing alone.
    yield _draw(rng, depth=2, repeats=1, tied=1)
    yield _draw(rng, depth=2, repeats=3, tied=0)
    # The others are other models.
    yield _draw(rng, depth=2, repeats=2, tied=0, other_model=EXPERTS)
    yield _draw(rng, depth=2, repeats=3, tied=1, other_model=TOWERS)
    yield _draw(rng, depth=5, repeats=1, tied=0, other_model=NUMBERED)
    yield _draw(rng, depth=4, repeats=1, tied=0, other_model=RING)


def _draw(rng: np.random.Generator, *, depth: int, repeats: int, tied: int, other_model: str = "") -> Case:
    """Sizes that differ, so that a shape shows which dimension is which."""
    return {
        "vocab": int(rng.integers(10_000, 200_000)),
        "width": int(rng.integers(256, 8_000)),
        "depth": depth,
        "repeats": repeats,
        "rank": int(rng.integers(2, 200)),
        "tied": tied,
        "other_model": other_model,
    }
