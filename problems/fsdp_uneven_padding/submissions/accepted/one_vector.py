"""All shards of a device in one vector: one all_gather and one reduce_scatter for all leaves."""

from functools import partial
from math import prod

import jax
import jax.flatten_util
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
        vector, restore = jax.flatten_util.ravel_pytree(shards)
        rows = jax.vmap(restore)(jax.lax.all_gather(vector, "fsdp"))
        whole = {name: cut(rows[name].ravel(), name) for name in SHAPES}
        loss, grads = jax.value_and_grad(mean_loss)(whole, x, y)
        devices = jax.lax.axis_size("fsdp")
        parts = {name: pad(g - jnp.mean(g)).reshape(devices, -1) for name, g in grads.items()}
        rows = jax.vmap(lambda part: jax.flatten_util.ravel_pytree(part)[0])(parts)
        mean = restore(jax.lax.psum_scatter(rows, "fsdp") / devices)
        return jax.tree.map(lambda p, g: p - 0.5 * g, shards, mean), jax.lax.pmean(loss, "fsdp")

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
