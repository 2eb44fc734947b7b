"""The new biases are computed from their bfloat16 copies, which were made for the gather. Updates that are smaller than the rounding are lost: subtract them from the float32 biases."""

from functools import partial

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYERS = {"dense1": (40, 128), "dense2": (128, 64), "dense3": (64, 24)}


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    params = {name: nnx.to_pure_dict(nnx.state(nnx.Linear(*size, rngs=rngs))) for name, size in LAYERS.items()}
    state = {"params": params, "momentum": jax.tree.map(jnp.zeros_like, params)}
    return jax.device_put(state, NamedSharding(mesh, P("fsdp")))


def mean_loss(params, x, y):
    for name in LAYERS:
        layer = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), params[name])
        x = x @ layer["kernel"] + layer["bias"]
        x = x if name == "dense3" else nnx.relu(x)
    return jnp.mean((x - y) ** 2)


def step(mesh, state, x, y):
    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=(P("fsdp"), P()))
    def local_step(state, x, y):
        whole = jax.tree.map(lambda p: jax.lax.all_gather(p.astype(jnp.bfloat16), "fsdp", tiled=True), state["params"])
        loss, grads = jax.value_and_grad(mean_loss)(whole, x, y)
        devices = jax.lax.axis_size("fsdp")
        grads = jax.tree.map(lambda g: jax.lax.psum_scatter(g.astype(jnp.float32), "fsdp", tiled=True) / devices, grads)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["momentum"], grads)
        masters = {
            name: layer | {"bias": layer["bias"].astype(jnp.bfloat16).astype(jnp.float32)}
            for name, layer in state["params"].items()
        }
        params = jax.tree.map(lambda p, m: p - 0.5 * m, masters, momentum)
        return {"params": params, "momentum": momentum}, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
