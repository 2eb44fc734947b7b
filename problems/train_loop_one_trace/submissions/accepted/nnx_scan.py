"""nnx.scan carries the model itself, and the momentum beside it."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


class Network(nnx.Module):
    def __init__(self, rngs):
        self.dense1 = nnx.Linear(16, 32, rngs=rngs)
        self.dense2 = nnx.Linear(32, 8, rngs=rngs)

    def __call__(self, x):
        return self.dense2(jnp.tanh(self.dense1(x)))


def init(mesh, seed):
    params = nnx.to_pure_dict(nnx.state(Network(nnx.Rngs(seed)), nnx.Param))
    momentum = jax.tree.map(jnp.zeros_like, params)
    state = {"params": params, "momentum": momentum, "count": jnp.zeros((), jnp.int32)}
    return jax.device_put(state, NamedSharding(mesh, P()))


def loss_fn(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


def train(mesh, state, xs, ys, lrs):
    model = Network(nnx.Rngs(0))
    nnx.update(model, state["params"])

    @nnx.scan(in_axes=(nnx.Carry, 0, 0, 0), out_axes=(nnx.Carry, 0))
    def steps(carry, x, y, lr):
        model, momentum = carry
        loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, nnx.to_pure_dict(grads))
        params = nnx.to_pure_dict(nnx.state(model, nnx.Param))
        nnx.update(model, jax.tree.map(lambda p, m: p - lr * m, params, momentum))
        return (model, momentum), loss

    (model, momentum), losses = steps((model, state["momentum"]), xs, ys, lrs)
    params = nnx.to_pure_dict(nnx.state(model, nnx.Param))
    return {"params": params, "momentum": momentum, "count": state["count"] + len(lrs)}, losses
