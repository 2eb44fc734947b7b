"""A deep copy, whose parameters are written one by one, each once, however many paths lead to it."""

import copy

import jax.numpy as jnp
import numpy as np
from flax import nnx


class Rows(nnx.Variable):
    pass


class Block(nnx.Module):
    def __init__(self, width, numbers):
        self.kernel = nnx.Param(jnp.asarray(numbers.standard_normal((width, width)), jnp.float32))
        self.mean = nnx.BatchStat(jnp.asarray(numbers.standard_normal(width), jnp.float32))
        self.rows = Rows(jnp.asarray(numbers.integers(100, 200), jnp.int32))
        self.use_running_average = False

    def __call__(self, h):
        if not self.use_running_average:
            self.mean[...] = 0.75 * self.mean[...] + 0.25 * h.mean(axis=0)
            self.rows[...] += len(h)
        return jnp.tanh((h - self.mean[...]) @ self.kernel[...])


class Model(nnx.Module):
    def __init__(self, features, width, depth, tied, seed):
        numbers = np.random.default_rng(seed)
        self.encoder = nnx.Param(jnp.asarray(numbers.standard_normal((features, width)), jnp.float32))
        self.blocks = nnx.List([Block(width, numbers) for _ in range(depth)])
        self.decoder = nnx.Param(jnp.asarray(numbers.standard_normal((features, width)), jnp.float32))
        if tied:
            self.decoder = self.encoder

    def __call__(self, x):
        h = x @ self.encoder[...]
        for block in self.blocks:
            h = block(h)
        return h @ self.decoder[...].T


def average_weights(average, model, decay):
    old, new = dict(nnx.iter_graph(average)), copy.deepcopy(model)
    for path, variable in nnx.iter_graph(new):
        if isinstance(variable, nnx.Param):
            variable[...] = decay * old[path][...] + (1 - decay) * variable[...]
    return new


def try_average(x, width, depth, tied, decay, seed, other_model):
    names = dict(globals())
    exec(other_model, names)
    average = names["Model"](x.shape[1], width, depth, tied, 2 * seed)
    model = names["Model"](x.shape[1], width, depth, tied, 2 * seed + 1)
    average.eval()
    new = average_weights(average, model, decay)
    result = {"new": variables(new), "output": new(x)}
    return result | {"average": variables(average), "model": variables(model)}


def variables(model):
    flat = nnx.to_flat_state(nnx.state(model))
    return {"/".join(map(str, path)): variable.get_value() for path, variable in flat}
