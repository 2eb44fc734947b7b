"""The slices are cut before the update: the old parameters for `previous`, and the new ones for the average."""

import jax
import jax.numpy as jnp
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


def step(mesh, state, x, y):
    whole, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], grads)
    params = jax.tree.map(lambda p, m: p - 0.1 * m, state["params"], momentum)
    params, momentum = jax.lax.with_sharding_constraint((params, momentum), whole)
    slices = jax.lax.with_sharding_constraint(params, split)

    def mean(old, new):
        return jax.lax.convert_element_type(0.9 * old.astype(jnp.float32) + 0.1 * new, old.dtype)

    return {
        "params": params,
        "momentum": momentum,
        "previous": jax.lax.with_sharding_constraint(state["params"], split),
        "average": jax.tree.map(mean, state["average"], slices),
        "losses": jnp.concatenate([state["losses"][1:], loss[None]]),
        "count": state["count"] + 1,
    }, loss
