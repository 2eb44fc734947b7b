"""nnx.shard_map with a model and an optimizer that are changed in place, as nnx is meant to be used."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

LEARNING_RATE = 0.05


class MLP(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(40, 128, rngs=rngs)
        self.dense2 = nnx.Linear(128, 64, rngs=rngs)
        self.dense3 = nnx.Linear(64, 24, rngs=rngs)

    def __call__(self, x):
        return self.dense3(nnx.relu(self.dense2(nnx.relu(self.dense1(x)))))


def init(mesh, seed):
    params = nnx.to_pure_dict(nnx.state(MLP(nnx.Rngs(seed)), nnx.Param))
    return jax.device_put({"params": params}, NamedSharding(mesh, P()))


def step(mesh, state, x, y):
    model = nnx.eval_shape(lambda: MLP(nnx.Rngs(0)))
    nnx.update(model, state["params"])

    @nnx.shard_map(mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=P())
    def local_step(model, x, y):
        optimizer = nnx.Optimizer(model, optax.sgd(LEARNING_RATE), wrt=nnx.Param)
        loss, grads = nnx.value_and_grad(lambda model: jax.lax.pmean(jnp.mean((model(x) - y) ** 2), "data"))(model)
        optimizer.update(model, grads)
        return loss

    loss = local_step(model, x, y)
    return {"params": nnx.to_pure_dict(nnx.state(model, nnx.Param))}, loss
