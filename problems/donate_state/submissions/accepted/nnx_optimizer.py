"""A model and an nnx.Optimizer are rebuilt from the state, updated, and taken apart again."""

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


class Network(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(40, 128, rngs=rngs)
        self.out = nnx.Linear(128, 24, rngs=rngs)

    def __call__(self, x):
        return self.out(jnp.tanh(self.hidden(x)))


def pin(mesh, state):
    return {
        name: jax.lax.with_sharding_constraint(part, NamedSharding(mesh, SPECS[name])) for name, part in state.items()
    }


def step(mesh, state, x, y):
    model = Network(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=nnx.Param)
    nnx.update(model, state["params"])
    nnx.update(optimizer.opt_state[0].trace, state["momentum"])
    loss, grads = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
    optimizer.update(model, grads)
    params = nnx.to_pure_dict(nnx.state(model, nnx.Param))

    def mean(old, new):
        return (0.9 * old.astype(jnp.float32) + 0.1 * new).astype(old.dtype)

    new = {
        "params": params,
        "momentum": nnx.to_pure_dict(nnx.state(optimizer.opt_state[0].trace)),
        "previous": state["params"],
        "average": jax.tree.map(mean, state["average"], params),
        "losses": jnp.append(state["losses"][1:], loss),
        "count": state["count"] + 1,
    }
    return pin(mesh, new), loss
