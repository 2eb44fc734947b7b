"""An nnx.Optimizer inside of the step; its state is taken apart on the way out and put back on the way in."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

SPECS = {"params": P("fsdp"), "mu": P("fsdp"), "nu": P("fsdp"), "count": P()}


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x):
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def build(seed):
    model = MLP(nnx.Rngs(seed))
    return model, nnx.Optimizer(model, optax.adam(1e-2, eps=1e-4), wrt=nnx.Param)


def take_apart(model, optimizer):
    adam = nnx.to_pure_dict(nnx.state(optimizer))["opt_state"][0]
    return {"params": nnx.to_pure_dict(nnx.state(model, nnx.Param))} | {
        name: adam[name] for name in ("mu", "nu", "count")
    }


def init(mesh, seed):
    state = take_apart(*build(seed))
    return {name: jax.device_put(state[name], NamedSharding(mesh, spec)) for name, spec in SPECS.items()}


def step(mesh, state, x, y):
    model, optimizer = build(0)
    nnx.update(model, state["params"])
    nnx.update(optimizer, {"opt_state": {0: {name: state[name] for name in ("mu", "nu", "count")}}})
    loss, grads = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
    optimizer.update(model, grads)
    new = take_apart(model, optimizer)
    return {
        name: jax.lax.with_sharding_constraint(new[name], NamedSharding(mesh, spec)) for name, spec in SPECS.items()
    }, loss
