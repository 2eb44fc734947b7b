"""The new kernels are whole on every device. They came in as shards: return them in the same places."""

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
    hidden = jnp.tanh(x @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    return jnp.mean((hidden @ params["out"]["kernel"] + params["out"]["bias"] - y) ** 2)


def step(mesh, state, x, y):
    whole = NamedSharding(mesh, P())
    params = jax.lax.with_sharding_constraint(state["params"], whole)
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    factor = jnp.minimum(1.0, LIMIT / optax.global_norm(grads))
    params = jax.tree.map(lambda p, g: p - LEARNING_RATE * factor * g, params, grads)
    return {"params": jax.lax.with_sharding_constraint(params, whole)}, loss
