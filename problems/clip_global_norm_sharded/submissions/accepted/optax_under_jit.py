"""Global arrays under jit: to optax the gradients are whole, and the compiler adds up the shards."""

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
    split = jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS["params"])

    def loss_of_shards(params):
        return loss_fn(jax.lax.with_sharding_constraint(params, NamedSharding(mesh, P())), x, y)

    loss, grads = jax.value_and_grad(loss_of_shards)(state["params"])
    grads = jax.lax.with_sharding_constraint(grads, split)
    sgd = optax.chain(optax.clip_by_global_norm(LIMIT), optax.sgd(LEARNING_RATE))
    updates, _ = sgd.update(grads, sgd.init(state["params"]))
    params = optax.apply_updates(state["params"], updates)
    return {"params": jax.lax.with_sharding_constraint(params, split)}, loss
