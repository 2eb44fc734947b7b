"""An nnx model and an nnx.Optimizer whose transform clips before the update."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LAYER = {"kernel": P("fsdp"), "bias": P()}
SPECS = {"hidden": LAYER, "out": LAYER}


class Model(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(40, 128, rngs=rngs)
        self.out = nnx.Linear(128, 24, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.tanh(self.hidden(x)))


def place(mesh, params):
    shardings = jax.tree.map(lambda spec: NamedSharding(mesh, spec), SPECS)
    return {"params": jax.tree.map(jax.lax.with_sharding_constraint, params, shardings)}


def init(mesh, seed):
    return jax.jit(lambda: place(mesh, nnx.to_pure_dict(nnx.state(Model(nnx.Rngs(seed)), nnx.Param))))()


def step(mesh, state, x, y):
    model = Model(nnx.Rngs(0))
    nnx.update(model, state["params"])
    clip = optax.clip_by_global_norm(1.0)
    optimizer = nnx.Optimizer(model, optax.chain(clip, optax.sgd(0.5)), wrt=nnx.Param)
    loss, grads = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
    optimizer.update(model, grads)
    return place(mesh, nnx.to_pure_dict(nnx.state(model, nnx.Param))), loss
