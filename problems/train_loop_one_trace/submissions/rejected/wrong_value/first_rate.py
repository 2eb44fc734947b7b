"""Every step of a call uses the first learning rate of the call. Each step has its own."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def init(mesh, seed):
    rngs = nnx.Rngs(seed)
    layers = {"dense1": nnx.Linear(16, 32, rngs=rngs), "dense2": nnx.Linear(32, 8, rngs=rngs)}
    params = {name: nnx.to_pure_dict(nnx.state(layer)) for name, layer in layers.items()}
    momentum = jax.tree.map(jnp.zeros_like, params)
    state = {"params": params, "momentum": momentum, "count": jnp.zeros((), jnp.int32)}
    return jax.device_put(state, NamedSharding(mesh, P()))


def loss_fn(params, x, y):
    hidden = jnp.tanh(x @ params["dense1"]["kernel"] + params["dense1"]["bias"])
    return jnp.mean((hidden @ params["dense2"]["kernel"] + params["dense2"]["bias"] - y) ** 2)


def update(state, grads, lr):
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], grads)
    params = jax.tree.map(lambda p, m: p - lr * m, state["params"], momentum)
    return {"params": params, "momentum": momentum, "count": state["count"] + 1}


def step(state, batch):
    x, y, lr = batch
    loss, grads = jax.value_and_grad(loss_fn)(state["params"], x, y)
    return update(state, grads, lr), loss


def train(mesh, state, xs, ys, lrs):
    def first(state, batch):
        x, y = batch
        return step(state, (x, y, lrs[0]))

    return jax.lax.scan(first, state, (xs, ys))
