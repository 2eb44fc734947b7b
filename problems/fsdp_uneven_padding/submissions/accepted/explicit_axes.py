"""The state lives on a mesh with Explicit axes, and the update is outside of shard_map."""

from math import prod

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, Mesh, NamedSharding
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
    mesh = Mesh(mesh.devices, mesh.axis_names, axis_types=(AxisType.Explicit,))
    params = {name: pad(leaf) for name, leaf in draw(seed).items()}
    return jax.device_put({"params": params}, NamedSharding(mesh, P("fsdp")))


def step(mesh, state, x, y):
    @jax.shard_map(in_specs=P("fsdp"), out_specs=(P("fsdp"), P()))
    def mean_gradient(shards, x, y):
        whole = {name: cut(jax.lax.all_gather(shard, "fsdp", tiled=True), name) for name, shard in shards.items()}
        loss, grads = jax.value_and_grad(mean_loss)(whole, x, y)
        padded = {name: pad(grad - jnp.mean(grad)) / mesh.size for name, grad in grads.items()}
        return jax.tree.map(lambda g: jax.lax.psum_scatter(g, "fsdp", tiled=True), padded), jax.lax.pmean(loss, "fsdp")

    grads, loss = mean_gradient(state["params"], x, y)
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * g, state["params"], grads)}, loss
