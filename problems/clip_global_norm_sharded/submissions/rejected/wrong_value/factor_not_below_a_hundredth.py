"""The factor is never below 0.01, so gradients with a norm above 100 are not scaled down to the limit."""

import jax
import jax.numpy as jnp
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
    @jax.shard_map(mesh=mesh, in_specs=(SPECS, P("fsdp"), P("fsdp")), out_specs=(SPECS, P()))
    def local_step(state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
        kernels = sum(jnp.sum(layer["kernel"] ** 2) for layer in grads.values())
        biases = sum(jnp.sum(layer["bias"] ** 2) for layer in grads.values())
        norm = jnp.sqrt(jax.lax.psum(kernels, "fsdp") + biases)
        factor = jnp.clip(LIMIT / norm, 0.01, 1.0)
        params = jax.tree.map(lambda p, g: p - LEARNING_RATE * factor * g, state["params"], grads)
        return {"params": params}, loss

    return local_step(state, x, y)
