"""The models of jit_of_a_module. Every case is a dict in the order of the entry point's arguments."""

from collections.abc import Iterator
from typing import Any

import numpy as np

Case = dict[str, Any]

# Two models that no submission contains: a function that knows the variables of the starter's model knows nothing of
# theirs. They are run in the names of the submission's file, so each imports what it uses.
# A subclass of BatchStat, a kind of variable that two cells share, and nothing random.
MEMORY = """
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Peak(nnx.BatchStat):
    pass


class Memory(nnx.Variable):
    pass


class Cell(nnx.Module):
    def __init__(self, width, memory, numbers):
        self.mix = nnx.Param(jnp.asarray(numbers.standard_normal((width, width)), jnp.float32))
        self.peak = Peak(jnp.asarray(np.zeros(width, np.float32)))
        self.memory = memory

    def __call__(self, h):
        self.peak[...] = jnp.maximum(0.5 * self.peak[...], jnp.abs(h).max(axis=0))
        self.memory[...] = 0.5 * self.memory[...] + h.T @ h / len(h)
        return jnp.tanh(h @ self.memory[...] @ self.mix[...]) + self.peak[...]


class Model(nnx.Module):
    def __init__(self, width, depth, repeats, noisy, seed):
        numbers = np.random.default_rng(seed)
        first, second = (Memory(jnp.asarray(numbers.standard_normal((width, width)), jnp.float32)) for _ in range(2))
        cells = [Cell(width, second if number == 1 else first, numbers) for number in range(depth)]
        self.stacks = nnx.List([nnx.List(cells) for _ in range(repeats)])

    def __call__(self, x):
        PYTHON_RUNS.append(str(x.shape))
        for stack in self.stacks:
            for cell in stack:
                x = cell(x)
        return x
"""
# A layer of flax, and a stream of random keys that two paths lead to.
STREAMS = """
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Model(nnx.Module):
    def __init__(self, width, depth, repeats, noisy, seed):
        numbers = np.random.default_rng(seed)
        self.rngs = nnx.Rngs(noise=seed)
        self.norm = nnx.BatchNorm(width, use_scale=False, use_bias=False, momentum=0.5, rngs=self.rngs)
        self.last = nnx.Dict(rngs=self.rngs, scale=nnx.Param(jnp.asarray(numbers.standard_normal(width), jnp.float32)))

    def __call__(self, x):
        PYTHON_RUNS.append(str(x.shape))
        noise = jax.random.key_data(self.rngs.noise())[0] / 2.0**32
        return self.norm(jnp.sin(2 * x + noise)) * self.last["scale"][...]
"""


def public_cases() -> list[Case]:
    """A model in which nothing is shared, and one whose blocks are used twice."""
    first, second = np.random.default_rng(1), np.random.default_rng(2)
    return [
        _case(first, batches=2, rows=4, least=2, width=3, epochs=2, depth=1, repeats=1, noisy=1, seed=1),
        _case(second, batches=1, rows=5, least=4, width=3, epochs=2, depth=2, repeats=2, noisy=0, seed=2),
    ]


def hidden_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the cases that grade an attempt. The caller re-seeds `rng` before each one, so draws belong inside it."""
    yield _drawn(rng, batches=3, rows=6, least=2, width=4, epochs=2, depth=2, repeats=1, noisy=1)
    yield _drawn(rng, batches=2, rows=7, least=4, width=5, epochs=3, depth=1, repeats=3, noisy=0)
    # The last two are other models.
    yield _drawn(rng, batches=2, rows=7, least=6, width=5, epochs=2, depth=3, repeats=2, noisy=0, other_model=MEMORY)
    yield _drawn(rng, batches=2, rows=9, least=7, width=4, epochs=2, depth=1, repeats=1, noisy=1, other_model=STREAMS)


def _drawn(rng: np.random.Generator, *, other_model: str = "", **sizes: int) -> Case:
    return _case(rng, **sizes, seed=int(rng.integers(2**31)), other_model=other_model)


def _case(
    numbers: np.random.Generator,
    batches: int,
    rows: int,
    least: int,
    width: int,
    epochs: int,
    depth: int,
    repeats: int,
    noisy: int,
    seed: int,
    other_model: str = "",
) -> Case:
    """Batches of different means, so that each of them changes the statistics.

    Args:
      rows: of each batch but the last one, which has `least`.
    """
    means = numbers.uniform(-1, 1, (batches + 1, 1, width))
    xs = means[:-1] + numbers.standard_normal((batches, rows, width))
    return {
        "xs": xs.astype(np.float32),
        "last": (means[-1] + numbers.standard_normal((least, width))).astype(np.float32),
        "epochs": epochs,
        "depth": depth,
        "repeats": repeats,
        "noisy": noisy,
        "seed": seed,
        "other_model": other_model,
    }
