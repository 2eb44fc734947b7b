"""nnx.jit writes the updates of a call back into the model."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

# The shape of `x`, for each time that Python executes `Model.__call__`.
PYTHON_RUNS: list[str] = []


class Calls(nnx.Variable):
    """How often a block was called: a kind of variable that flax does not have."""


class Block(nnx.Module):
    def __init__(self, width: int, numbers: np.random.Generator) -> None:
        self.kernel = nnx.Param(jnp.asarray(numbers.standard_normal((width, width)), jnp.float32))
        self.mean = nnx.BatchStat(jnp.asarray(numbers.standard_normal(width), jnp.float32))
        self.calls = Calls(jnp.asarray(0, jnp.int32))

    def __call__(self, h: jax.Array) -> jax.Array:
        self.mean[...] = 0.75 * self.mean[...] + 0.25 * h.mean(axis=0)
        self.calls[...] += 1
        return jnp.tanh((h - self.mean[...]) @ self.kernel[...])


class Model(nnx.Module):
    def __init__(self, width: int, depth: int, repeats: int, noisy: int, seed: int) -> None:
        numbers = np.random.default_rng(seed)
        self.blocks = nnx.List([Block(width, numbers) for _ in range(depth)] * repeats)  # the same blocks again
        self.noisy = bool(noisy)
        self.rngs = nnx.Rngs(seed)  # a variable with a random key, and one that counts the keys drawn from it

    def __call__(self, x: jax.Array) -> jax.Array:
        PYTHON_RUNS.append(str(x.shape))
        h = x + noise(self.rngs()) if self.noisy else x
        for block in self.blocks:
            h = block(h)
        return h


def noise(key: jax.Array) -> jax.Array:
    """A number from 0 to 1, made of the bits of a random key. It compiles faster than jax.random.uniform."""
    return jax.random.key_data(key)[1] / 2.0**32


@nnx.jit
def call(model: nnx.Module, x: jax.Array) -> jax.Array:
    """The model, with its updates written back after each call."""
    return model(x)


def run(model: nnx.Module, batches: list[jax.Array]) -> list[jax.Array]:
    """Call the model on each batch. It is traced once for each shape."""
    return [call(model, x) for x in batches]


def run_epochs(
    xs: jax.Array, last: jax.Array, epochs: int, depth: int, repeats: int, noisy: int, seed: int, other_model: str
) -> dict[str, Any]:
    """Run a model on all batches, several times over."""
    names = dict(globals())
    exec(other_model, names)
    model = names["Model"](last.shape[1], depth, repeats, noisy, seed)
    PYTHON_RUNS.clear()
    batches = [*xs, last]
    result = {"outputs": run(model, batches * epochs)}
    return result | {"variables": variables(model), "python_runs": list(PYTHON_RUNS)}


def variables(model: nnx.Module) -> dict[str, jax.Array]:
    """The value of each variable by its path, such as `blocks/0/mean`. A random key becomes the numbers in it."""
    found = {}
    for path, variable in nnx.to_flat_state(nnx.state(model)):
        value = variable.get_value()
        is_key = jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)
        found["/".join(map(str, path))] = jax.random.key_data(value) if is_key else value
    return found
