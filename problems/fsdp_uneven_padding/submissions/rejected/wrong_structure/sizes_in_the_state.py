"""The state has leaves besides `params`. The sizes of the leaves never change, so they belong in the program: `SHAPES`
has them."""

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
    sizes = {name: jnp.int32(prod(shape)) for name, shape in SHAPES.items()}
    state = {"params": params, "sizes": sizes}
    return jax.device_put(state, {"params": NamedSharding(mesh, P("fsdp")), "sizes": NamedSharding(mesh, P())})


def step(mesh, state, x, y):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=(P("fsdp"), P()))
    def local_step(shards, x, y):
        whole = {name: cut(jax.lax.all_gather(shard, "fsdp", tiled=True), name) for name, shard in shards.items()}
        loss, grads = jax.value_and_grad(mean_loss)(whole, x, y)
        new = {}
        for name, grad in grads.items():
            mean = jax.lax.psum_scatter(pad(grad - jnp.mean(grad)), "fsdp", tiled=True) / jax.lax.axis_size("fsdp")
            new[name] = shards[name] - 0.5 * mean
        return new, jax.lax.pmean(loss, "fsdp")

    params, loss = local_step(state["params"], x, y)
    return {"params": params, "sizes": state["sizes"]}, loss
