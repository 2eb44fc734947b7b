"""The average is computed by optax, and every leaf is cast to the dtype of the old one at the end."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
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


SGD = optax.sgd(0.1, momentum=0.9)


def pin(mesh, state):
    return {
        name: jax.lax.with_sharding_constraint(part, NamedSharding(mesh, SPECS[name])) for name, part in state.items()
    }


def step(mesh, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
    updates, (trace, _) = SGD.update(grads, (optax.TraceState(state["momentum"]), optax.EmptyState()))
    params = optax.apply_updates(state["params"], updates)
    new = {
        "params": params,
        "momentum": trace.trace,
        "previous": state["params"],
        "average": optax.incremental_update(params, state["average"], 0.1),
        "losses": jnp.roll(state["losses"], -1).at[-1].set(loss),
        "count": optax.safe_increment(state["count"]),
    }
    return pin(mesh, jax.tree.map(lambda leaf, old: leaf.astype(old.dtype), new, state)), loss
