"""On Explicit axes: the type of each gradient says whether it is split, and a sum over it crosses the mesh where it is."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

LAYER = {"kernel": P("fsdp"), "bias": P()}
SPECS = {"params": {"hidden": LAYER, "out": LAYER}}


def init(mesh, seed):
    mesh = Mesh(mesh.devices, mesh.axis_names, axis_types=(AxisType.Explicit,))
    rngs = nnx.Rngs(seed)
    layers = {"hidden": nnx.Linear(40, 128, rngs=rngs), "out": nnx.Linear(128, 24, rngs=rngs)}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    return jax.device_put({"params": params}, jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS))


def dense(layer, x):
    return x @ jax.sharding.reshard(layer["kernel"], P()) + layer["bias"]


def loss_fn(params, x, y):
    return jnp.mean((dense(params["out"], jnp.tanh(dense(params["hidden"], x))) - y) ** 2)


def step(mesh, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
    norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
    factor = jnp.minimum(1.0, 1.0 / norm)
    return {"params": jax.tree.map(lambda p, g: p - 0.5 * factor * g, state["params"], grads)}, loss
