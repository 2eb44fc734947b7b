"""The parameters are averaged as states, and merged with copies of everything else."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx


class Rows(nnx.Variable):
    """How many rows a block has seen in training: a kind of variable that flax does not have."""


class Block(nnx.Module):
    def __init__(self, width: int, numbers: np.random.Generator) -> None:
        self.kernel = nnx.Param(jnp.asarray(numbers.standard_normal((width, width)), jnp.float32))
        self.mean = nnx.BatchStat(jnp.asarray(numbers.standard_normal(width), jnp.float32))
        self.rows = Rows(jnp.asarray(numbers.integers(100, 200), jnp.int32))
        self.use_running_average = False  # a Python value; model.eval() sets it to True

    def __call__(self, h: jax.Array) -> jax.Array:
        if not self.use_running_average:
            self.mean[...] = 0.75 * self.mean[...] + 0.25 * h.mean(axis=0)
            self.rows[...] += len(h)
        return jnp.tanh((h - self.mean[...]) @ self.kernel[...])


class Model(nnx.Module):
    def __init__(self, features: int, width: int, depth: int, tied: int, seed: int) -> None:
        numbers = np.random.default_rng(seed)
        self.encoder = nnx.Param(jnp.asarray(numbers.standard_normal((features, width)), jnp.float32))
        self.blocks = nnx.List([Block(width, numbers) for _ in range(depth)])
        self.decoder = nnx.Param(jnp.asarray(numbers.standard_normal((features, width)), jnp.float32))
        if tied:
            self.decoder = self.encoder  # one variable with two names, not a copy

    def __call__(self, x: jax.Array) -> jax.Array:
        h = x @ self.encoder[...]
        for block in self.blocks:
            h = block(h)
        return h @ self.decoder[...].T


def average_weights(average: nnx.Module, model: nnx.Module, decay: float) -> nnx.Module:
    """A copy of `model` in which each parameter is `decay * average + (1 - decay) * model`."""
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    old = nnx.state(average, nnx.Param)
    mean = jax.tree.map(lambda a, p: decay * a + (1 - decay) * p, old, params)
    return nnx.merge(graphdef, mean, rest, copy=True)


def try_average(
    x: jax.Array, width: int, depth: int, tied: int, decay: float, seed: int, other_model: str
) -> dict[str, dict[str, jax.Array] | jax.Array]:
    """Average two models, and train the new one on a batch."""
    names = dict(globals())
    exec(other_model, names)
    average = names["Model"](x.shape[1], width, depth, tied, 2 * seed)
    model = names["Model"](x.shape[1], width, depth, tied, 2 * seed + 1)
    average.eval()
    new = average_weights(average, model, decay)
    result = {"new": variables(new), "output": new(x)}
    return result | {"average": variables(average), "model": variables(model)}


def variables(model: nnx.Module) -> dict[str, jax.Array]:
    """The value of each variable by its path, such as `blocks/0/mean`. A shared one has its first path only."""
    flat = nnx.to_flat_state(nnx.state(model))
    return {"/".join(map(str, path)): variable.get_value() for path, variable in flat}
