"""Each kernel is gathered a second time, to check that all weights are finite. Let each device check its own shards, so that only one
number is summed."""

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
        shards = sum(jnp.sum(layer["kernel"] ** 2) for layer in grads.values())
        biases = sum(jnp.sum(layer["bias"] ** 2) for layer in grads.values())
        factor = jnp.minimum(1.0, LIMIT / jnp.sqrt(jax.lax.psum(shards, "fsdp") + biases))
        for layer in state["params"].values():
            # Reversed, so that the compiler does not merge it with the gather for the product.
            whole = jax.lax.all_gather(layer["kernel"][::-1], "fsdp", axis=0, tiled=True, to="invarying")
            factor = jnp.where(jnp.isfinite(jnp.sum(whole)), factor, jnp.nan)
        params = jax.tree.map(lambda p, g: p - LEARNING_RATE * factor * g, state["params"], grads)
        return {"params": params}, loss

    return local_step(state, x, y)
