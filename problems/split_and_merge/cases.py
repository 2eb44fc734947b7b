"""The models of split_and_merge. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Two models that no submission contains: a function that knows the variables of the starter's model knows nothing of
# theirs. They are run in the names of the submission's file, so each imports what it uses.
# An expert that all layers share, a subclass of Param in bfloat16, and a variable of floats that is not a parameter.
# With the scales and the decay of its case, the averages are exact in bfloat16, whatever the order of the operations.
EXPERTS = """
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Scale(nnx.Param):
    pass


class Load(nnx.Variable):
    pass


class Expert(nnx.Module):
    def __init__(self, width, numbers):
        self.up = nnx.Param(jnp.asarray(numbers.standard_normal((width, width)), jnp.float32))
        self.scale = Scale(jnp.asarray(numbers.integers(1, 8, width), jnp.bfloat16))

    def __call__(self, h):
        return jnp.tanh(h @ self.up[...]) * self.scale[...].astype(jnp.float32)


class Layer(nnx.Module):
    def __init__(self, width, shared, numbers):
        self.experts = nnx.List([Expert(width, numbers), shared])
        self.load = Load(jnp.asarray(numbers.standard_normal(width), jnp.float32))

    def __call__(self, h):
        self.load[...] = self.load[...] + h.mean(axis=0)
        return self.experts[0](h) + self.experts[1](h) + self.load[...]


class Model(nnx.Module):
    def __init__(self, features, width, depth, tied, seed):
        numbers = np.random.default_rng(seed)
        shared = Expert(width, numbers)
        self.table = nnx.Param(jnp.asarray(numbers.standard_normal((features, width)), jnp.float32))
        self.layers = nnx.List([Layer(width, shared, numbers) for _ in range(depth)])

    def __call__(self, x):
        h = x @ self.table[...]
        for layer in self.layers:
            h = layer(h)
        return h
"""
# A list of lists, statistics that two norms share, and a Python value that differs between the two models.
TOWERS = """
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Norm(nnx.Module):
    def __init__(self, width, numbers):
        self.mean = nnx.BatchStat(jnp.asarray(numbers.standard_normal(width), jnp.float32))
        self.bias = nnx.Param(jnp.asarray(numbers.standard_normal(width), jnp.float32))

    def __call__(self, h):
        self.mean[...] = 0.5 * self.mean[...] + 0.5 * h.mean(axis=0)
        return h - self.mean[...] + self.bias[...]


class Model(nnx.Module):
    def __init__(self, features, width, depth, tied, seed):
        numbers = np.random.default_rng(seed)
        self.into = nnx.Param(jnp.asarray(numbers.standard_normal((features, width)), jnp.float32))
        self.towers = nnx.List([nnx.List([Norm(width, numbers) for _ in range(depth)]) for _ in range(2)])
        self.towers[1][0].mean = self.towers[0][depth - 1].mean
        self.passes = 1 + seed % 2

    def __call__(self, x):
        h = x @ self.into[...]
        for _ in range(self.passes):
            for tower in self.towers:
                for norm in tower:
                    h = jnp.tanh(norm(h))
        return h
"""


def public_cases() -> list[Case]:
    """A model in which nothing is shared, and one whose encoder and decoder are one variable."""
    first, second = np.random.default_rng(1), np.random.default_rng(2)
    return [
        _case(first, rows=4, features=3, width=2, depth=1, tied=0, decay=0.9, seed=1),
        _case(second, rows=4, features=3, width=2, depth=2, tied=1, decay=0.75, seed=2),
    ]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it.

    No decay is near 0.5, with which it would not matter which of the models it weights.
    """
    yield _drawn(rng, width=2, depth=3, tied=0, decay=float(rng.uniform(0.8, 0.99)))
    yield _drawn(rng, width=5, depth=2, tied=1, decay=float(rng.uniform(0.1, 0.3)))
    # The average is the trained model, or stays what it was.
    yield _drawn(rng, width=5, depth=1, tied=0, decay=0.0)
    yield _drawn(rng, width=2, depth=1, tied=1, decay=1.0)
    # The last two are other models.
    yield _drawn(rng, width=5, depth=3, tied=0, decay=0.875, other_model=EXPERTS)
    yield _drawn(rng, width=2, depth=2, tied=0, decay=float(rng.uniform(0.6, 0.8)), other_model=TOWERS)


def _drawn(rng: np.random.Generator, *, width: int, depth: int, tied: int, decay: float, other_model: str = "") -> Case:
    """Sizes that differ, so that a shape shows which dimension is which."""
    rows, features = {2: (4, 3), 5: (7, 6)}[width]
    seed = int(rng.integers(2**31))
    return _case(rng, rows, features, width, depth, tied, decay, seed, other_model)


def _case(
    numbers: np.random.Generator,
    rows: int,
    features: int,
    width: int,
    depth: int,
    tied: int,
    decay: float,
    seed: int,
    other_model: str = "",
) -> Case:
    return {
        "x": numbers.standard_normal((rows, features)).astype(np.float32),
        "width": width,
        "depth": depth,
        "tied": tied,
        "decay": decay,
        "seed": seed,
        "other_model": other_model,
    }
