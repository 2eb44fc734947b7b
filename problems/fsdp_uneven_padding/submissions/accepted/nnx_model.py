"""An nnx model of the gathered and cut weights, and nnx.value_and_grad with respect to it."""

from functools import partial
from math import prod

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

SHAPES = {"embed": (321, 10), "kernel1": (10, 13), "bias1": (13,), "kernel2": (13, 7), "bias2": (7,)}


def draw(seed):
    keys = jax.random.split(jax.random.key(seed), len(SHAPES))
    return {name: 0.5 * jax.random.normal(key, shape) for key, (name, shape) in zip(keys, SHAPES.items(), strict=True)}


def pad(leaf):
    return jnp.pad(leaf.ravel(), (0, -leaf.size % 8))


def cut(vector, name):
    return vector[: prod(SHAPES[name])].reshape(SHAPES[name])


def init(mesh, seed):
    params = {name: pad(leaf) for name, leaf in draw(seed).items()}
    return jax.device_put({"params": params}, NamedSharding(mesh, P("fsdp")))


class Network(nnx.Module):
    def __init__(self, params):
        for name, value in params.items():
            setattr(self, name, nnx.Param(value))

    def __call__(self, x):
        h = jnp.tanh(jnp.mean(self.embed[...][x], axis=1) @ self.kernel1 + self.bias1)
        return h @ self.kernel2 + self.bias2


def step(mesh, state, x, y):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=(P("fsdp"), P()))
    def local_step(shards, x, y):
        model = Network({name: cut(jax.lax.all_gather(shards[name], "fsdp", tiled=True), name) for name in SHAPES})
        loss, grads = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
        new = {}
        for name, grad in nnx.to_pure_dict(grads).items():
            mean = jax.lax.psum_scatter(pad(grad - jnp.mean(grad)), "fsdp", tiled=True) / jax.lax.axis_size("fsdp")
            new[name] = shards[name] - 0.5 * mean
        return new, jax.lax.pmean(loss, "fsdp")

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
