"""The first loss is already wrong, although the state is right: the gathered parameters are not the ones that were
padded. One possible cause: every shard was cut before the gather, although only the last shards have padding. Gather
first, then cut."""

from functools import partial
from math import prod

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

SHAPES = {"embed": (321, 10), "kernel1": (10, 13), "bias1": (13,), "kernel2": (13, 7), "bias2": (7,)}


def draw(seed):
    keys = jax.random.split(jax.random.key(seed), len(SHAPES))
    return {name: 0.5 * jax.random.normal(key, shape) for key, (name, shape) in zip(keys, SHAPES.items(), strict=True)}


def mean_loss(params, x, y):
    h = jnp.mean(params["embed"][x], axis=1)
    h = jnp.tanh(h @ params["kernel1"] + params["bias1"])
    return jnp.mean((h @ params["kernel2"] + params["bias2"] - y) ** 2)


def pad(leaf):
    return jnp.pad(leaf.ravel(), (0, -leaf.size % 8))


def cut(vector, name):
    return vector[: prod(SHAPES[name])].reshape(SHAPES[name])


def init(mesh, seed):
    params = {name: pad(leaf) for name, leaf in draw(seed).items()}
    return jax.device_put({"params": params}, NamedSharding(mesh, P("fsdp")))


def step(mesh, state, x, y):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=(P("fsdp"), P()))
    def local_step(shards, x, y):
        whole = {}
        for name, shard in shards.items():
            share = max(1, prod(SHAPES[name]) // jax.lax.axis_size("fsdp"))
            whole[name] = jnp.resize(jax.lax.all_gather(shard[:share], "fsdp", tiled=True), SHAPES[name])
        loss, grads = jax.value_and_grad(mean_loss)(whole, x, y)
        new = {}
        for name, grad in grads.items():
            mean = jax.lax.psum_scatter(pad(grad - jnp.mean(grad)), "fsdp", tiled=True) / jax.lax.axis_size("fsdp")
            new[name] = shards[name] - 0.5 * mean
        return new, jax.lax.pmean(loss, "fsdp")

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
