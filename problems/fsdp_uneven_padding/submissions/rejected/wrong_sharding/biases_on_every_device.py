"""Some leaves are split, and the small ones are whole on every device, because 8 divides neither 13 nor 7. Padded to 16
and 8 elements, they can be split."""

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
    return {"params": {name: jax.device_put(leaf, NamedSharding(mesh, SPECS[name])) for name, leaf in params.items()}}


SPECS = {name: P() if name.startswith("bias") else P("fsdp") for name in SHAPES}


def step(mesh, state, x, y):
    @partial(jax.shard_map, mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()), check_vma=False)
    def local_step(shards, x, y):
        def gather(name):
            shard = shards[name]
            return cut(shard if SPECS[name] == P() else jax.lax.all_gather(shard, "fsdp", tiled=True), name)

        loss, grads = jax.value_and_grad(mean_loss)({name: gather(name) for name in SHAPES}, x, y)
        new = {}
        for name, grad in grads.items():
            padded = pad(grad - jnp.mean(grad)) / jax.lax.axis_size("fsdp")
            is_whole = SPECS[name] == P()
            mean = jax.lax.psum(padded, "fsdp") if is_whole else jax.lax.psum_scatter(padded, "fsdp", tiled=True)
            new[name] = shards[name] - 0.5 * mean
        return new, jax.lax.pmean(loss, "fsdp")

    params, loss = local_step(state["params"], x, y)
    return {"params": params}, loss
