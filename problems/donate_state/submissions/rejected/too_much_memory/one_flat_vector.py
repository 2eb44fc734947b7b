"""All leaves are joined into one vector for the update, which is a second copy of the parameters and of the momentum."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.flatten_util import ravel_pytree
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

SPECS = {"params": P(), "momentum": P(), "previous": P("data"), "average": P("data"), "losses": P(), "count": P()}


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    layers = {"hidden": nnx.Linear(40, 128, rngs=rngs), "out": nnx.Linear(128, 24, rngs=rngs)}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    state = {
        "params": params,
        "momentum": jax.tree.map(jnp.zeros_like, params),
        "previous": params,
        "average": jax.tree.map(lambda p: p.astype(jnp.bfloat16), params),
        "losses": jnp.zeros(8),
        "count": jnp.zeros((), jnp.int32),
    }
    return {name: jax.device_put(part, NamedSharding(mesh, SPECS[name])) for name, part in state.items()}


def loss_fn(params, x, y):
    hidden = jnp.tanh(x @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    return jnp.mean((hidden @ params["out"]["kernel"] + params["out"]["bias"] - y) ** 2)


def pin(mesh, state):
    return {
        name: jax.lax.with_sharding_constraint(part, NamedSharding(mesh, SPECS[name])) for name, part in state.items()
    }


def step(mesh, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
    flat, restore = ravel_pytree(state["params"])
    momentum = 0.9 * ravel_pytree(state["momentum"])[0] + ravel_pytree(grads)[0]
    params, momentum = restore(flat - 0.1 * momentum), restore(momentum)

    def mean(old, new):
        return (0.9 * old.astype(jnp.float32) + 0.1 * new).astype(old.dtype)

    new = {
        "params": params,
        "momentum": momentum,
        "previous": state["params"],
        "average": jax.tree.map(mean, state["average"], params),
        "losses": jnp.append(state["losses"][1:], loss),
        "count": state["count"] + 1,
    }
    return pin(mesh, new), loss
