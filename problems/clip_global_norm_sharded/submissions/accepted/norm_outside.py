"""shard_map returns gradients, and jit clips them: outside of it they are global arrays."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE, LIMIT = 0.5, 1.0
LAYER = {"kernel": P("fsdp"), "bias": P()}
SPECS = {"params": {"hidden": LAYER, "out": LAYER}}


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    layers = {"hidden": nnx.Linear(40, 128, rngs=rngs), "out": nnx.Linear(128, 24, rngs=rngs)}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    return jax.device_put({"params": params}, jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS))


def loss_fn(params, x, y):
    def dense(layer, x):
        return x @ jax.lax.all_gather(layer["kernel"], "fsdp", axis=0, tiled=True) + layer["bias"]

    error = dense(params["out"], jnp.tanh(dense(params["hidden"], x))) - y
    return jax.lax.pmean(jnp.mean(error**2), "fsdp")


def step(mesh, state, x, y):
    params, specs = state["params"], SPECS["params"]

    @jax.shard_map(mesh=mesh, in_specs=(specs, P("fsdp"), P("fsdp")), out_specs=(P(), specs))
    def loss_and_grads(params, x, y):
        return jax.value_and_grad(loss_fn)(params, x, y)

    loss, grads = loss_and_grads(params, x, y)
    factor = jnp.minimum(1.0, LIMIT / optax.global_norm(grads))
    return {"params": jax.tree.map(lambda p, g: p - LEARNING_RATE * factor * g, params, grads)}, loss
