"""An nnx model that is merged with the gathered weights, and nnx.value_and_grad with respect to them."""

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


class Network(nnx.Module):
    def __init__(self, rngs):
        for name, size in LAYERS.items():
            setattr(self, name, nnx.Linear(*size, rngs=rngs))

    def __call__(self, x):
        for name in LAYERS:
            x = getattr(self, name)(x)
            x = x if name == "dense3" else nnx.relu(x)
        return x


def step(mesh, state, x, y):
    def gather(p):
        return jax.lax.all_gather(p.astype(jnp.bfloat16), "fsdp", tiled=True).astype(jnp.float32)

    def reduce(g):
        return jax.lax.psum_scatter(g, "fsdp", tiled=True) / mesh.size

    @partial(jax.shard_map, mesh=mesh, in_specs=P("fsdp"), out_specs=(P("fsdp"), P()))
    def local_step(state, x, y):
        graph, variables = nnx.split(nnx.eval_shape(lambda: Network(nnx.Rngs(0))))
        nnx.replace_by_pure_dict(variables, jax.tree.map(gather, state["params"]))
        model = nnx.merge(graph, variables)
        loss, grads = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
        grads = jax.tree.map(reduce, nnx.to_pure_dict(grads))
        momentum = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["momentum"], grads)
        params = jax.tree.map(lambda p, m: p - 0.5 * m, state["params"], momentum)
        return {"params": params, "momentum": momentum}, jax.lax.pmean(loss, "fsdp")

    return local_step(state, x, y)
